// JSON of the command line: keys stay in the order in which they are written.
//
// Use     include this in .cpp files only: it is the one heavy header of the folder.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kvik::cli {

using Json = nlohmann::ordered_json;

// One line; bytes that are not UTF-8 become U+FFFD, numbers that are not finite null.
std::string to_line(const Json& value);
// `what` is named in the error, with the byte where it breaks or nests too deep.
Result<Json> parse_json(std::string_view text, std::string_view what);

// The members of an object, or elements of an array, as they are written: a Json holds no whole
// number past 64 bits. `text` is what parse_json has taken. Elements have no name.
struct JsonPart {
    std::string name;
    std::string_view text;
};
std::vector<JsonPart> parts_of(std::string_view text);

}  // namespace kvik::cli
