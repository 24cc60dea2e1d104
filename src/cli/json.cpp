#include "cli/json.h"

#include <fmt/format.h>

namespace kvik::cli {

std::string to_line(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Json> parse_json(std::string_view text, std::string_view what) {
    try {
        return Json::parse(text);
    } catch (const Json::parse_error& error) {
        return fail(ErrorKind::usage, fmt::format("{} is not JSON: it breaks at byte {}", what,
                                                  error.byte > 0 ? error.byte - 1 : 0));
    }
}

}  // namespace kvik::cli
