// Which safetensors files of a directory are the model's, whatever they are called.
//
// Shape   model.safetensors; else an index, by its usual name or the only *.safetensors.index.json;
//         else the only set NAME-00001-of-0000N.safetensors, whole; else all *.safetensors.
// Cost    one listing of the directory; no file is opened.
// Errors  none, several sets or a part of one that is not there: ErrorKind::file, with the remedy;
//         an adapter alone: ErrorKind::unsupported.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace kvik {

struct SafetensorsFolder {
    std::string index;               // a file's name; empty: there is none
    std::vector<std::string> files;  // without an index: all that hold the weights, ascending
};

Result<SafetensorsFolder> find_safetensors(const std::string& directory);

}  // namespace kvik
