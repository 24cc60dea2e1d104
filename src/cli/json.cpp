#include "cli/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "formats/json.h"

namespace kvik::cli {

std::string to_line(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The first place from `at` on, outside of strings, where stops(character, depth) holds, or the end.
// The depth is the number of brackets that were opened and are not closed.
template <class Stops>
static size_t walk(std::string_view text, size_t at, const Stops& stops) {
    uint32_t depth = 0;
    bool quoted = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (quoted) {
            if (c == '\\') ++at;
            quoted = c != '"';
            continue;
        }
        if (stops(c, depth)) return at;
        quoted = c == '"';
        if (c == '[' || c == '{') ++depth;
        if ((c == ']' || c == '}') && depth > 0) --depth;
    }
    return text.size();
}

// The byte of the bracket that goes too deep, if one does: writing and freeing a value recurse.
static std::optional<size_t> too_deep_at(std::string_view text) {
    const size_t at = walk(text, 0, [](char c, uint32_t depth) {
        return (c == '[' || c == '{') && depth == kMaxJsonDepth;
    });
    return at < text.size() ? std::optional(at) : std::nullopt;
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

// The place behind a string, an array, an object or a plain value that begins at `at`.
static size_t end_of_value(std::string_view text, size_t at) {
    constexpr std::string_view kEnds = ",:]}";
    return walk(text, at, [&](char c, uint32_t depth) {
        return depth == 0 && kEnds.find(c) != std::string_view::npos;
    });
}

std::vector<JsonPart> parts_of(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    std::vector<JsonPart> parts;
    size_t at = text.find_first_of("[{");
    const bool named = at < text.size() && text[at] == '{';
    for (++at; at < text.size(); ++at) {
        at = std::min(text.find_first_not_of(kBlanks, at), text.size());
        if (at == text.size() || text[at] == ']' || text[at] == '}') break;
        JsonPart part;
        if (named) {
            const size_t colon = end_of_value(text, at);
            part.name = Json::parse(text.substr(at, colon - at)).get<std::string>();
            at = std::min(text.find_first_not_of(kBlanks, colon + 1), text.size());
        }
        const size_t end = end_of_value(text, at);
        part.text = text.substr(at, end - at);
        part.text = part.text.substr(0, part.text.find_last_not_of(kBlanks) + 1);
        parts.push_back(std::move(part));
        at = end;
        if (at < text.size() && text[at] != ',') break;
    }
    return parts;
}

}  // namespace kvik::cli
