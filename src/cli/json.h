// JSON of the command line: keys stay in the order in which they are written.
//
// Use     include this in .cpp files only: it is the one heavy header of the folder.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvik::cli {

using Json = nlohmann::ordered_json;

// One line; bytes that are not UTF-8 become U+FFFD, numbers that are not finite null.
std::string to_line(const Json& value);
// `what` is named in the error, with the byte where it breaks or nests too deep.
Result<Json> parse_json(std::string_view text, std::string_view what);

}  // namespace kvik::cli
