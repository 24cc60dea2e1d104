#include "cli/json.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "formats/json.h"

namespace kvik::cli {

std::string to_line(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The byte of the bracket that goes too deep, if one does: writing and freeing a value recurse.
static std::optional<size_t> too_deep_at(std::string_view text) {
    uint32_t depth = 0;
    bool quoted = false;
    for (size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (quoted) {
            if (c == '\\') ++at;
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '[' || c == '{') {
            if (++depth > kMaxJsonDepth) return at;
        } else if ((c == ']' || c == '}') && depth > 0) {
            --depth;
        }
    }
    return std::nullopt;
}

Result<Json> parse_json(std::string_view text, std::string_view what) {
    if (const auto at = too_deep_at(text)) {
        return fail(ErrorKind::usage, fmt::format("{} is nested deeper than {} at byte {}", what,
                                                  kMaxJsonDepth, *at));
    }
    try {
        return Json::parse(text);
    } catch (const Json::parse_error& error) {
        return fail(ErrorKind::usage, fmt::format("{} is not JSON: it breaks at byte {}", what,
                                                  error.byte > 0 ? error.byte - 1 : 0));
    } catch (const Json::out_of_range&) {
        return fail(ErrorKind::usage, fmt::format("{} has a number that fits no double", what));
    }
}

}  // namespace kvik::cli
