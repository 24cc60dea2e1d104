#include "cli/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kvik::cli {
namespace {

template <class T>
std::optional<T> whole_text(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string span_of(WholeRange range) {
    if (range.max >= UINT32_MAX) return fmt::format("a whole number from {}", range.min);
    return fmt::format("a whole number from {} to {}", range.min, range.max);
}

}  // namespace

Result<uint64_t> parse_whole(std::string_view text, WholeRange range) {
    const auto value = whole_text<uint64_t>(text);
    if (!value || *value < range.min || *value > range.max)
        return fail(ErrorKind::usage, fmt::format("'{}' is not {}", text, span_of(range)));
    return *value;
}

Result<float> parse_float(std::string_view text) {
    const auto value = whole_text<float>(text);
    if (value) return *value;
    std::string point(text);
    std::replace(point.begin(), point.end(), ',', '.');
    const bool has_comma = point != text && whole_text<float>(point).has_value();
    return fail(ErrorKind::usage, fmt::format("'{}' is not a number{}", text,
                                              has_comma ? fmt::format(": write {}", point) : ""));
}

Result<uint64_t> parse_bytes(std::string_view text) {
    static constexpr std::string_view kUnits = "KMGTkmgt";
    const std::string_view number = text.ends_with("iB") ? text.substr(0, text.size() - 2) : text;
    const size_t found = number.empty() ? std::string_view::npos : kUnits.find(number.back());
    const bool has_unit = found != std::string_view::npos;
    const size_t unit = found % 4;
    const bool is_sound = has_unit || number.size() == text.size();  // "5iB" is none
    const auto value =
        is_sound ? whole_text<double>(has_unit ? number.substr(0, number.size() - 1) : number)
                 : std::nullopt;
    const double bytes =
        value ? *value * std::ldexp(1.0, has_unit ? 10 * (static_cast<int>(unit) + 1) : 0) : -1;
    if (!(bytes >= 1 && bytes < 0x1p62))
        return fail(ErrorKind::usage, fmt::format("'{}' is not a size such as 512M or 1G", text));
    return static_cast<uint64_t>(bytes);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

Setter turn_on(bool& target) {
    return [&target](std::string_view) -> Result<void> {
        target = true;
        return {};
    };
}

Setter into(std::string& target) {
    return [&target](std::string_view text) -> Result<void> {
        target = text;
        return {};
    };
}

Setter into(std::optional<std::string>& target) {
    return [&target](std::string_view text) -> Result<void> {
        target = std::string(text);
        return {};
    };
}

Setter into(uint32_t& target, WholeRange range) {
    return [&target, range](std::string_view text) -> Result<void> {
        KVIK_TRY(const uint64_t value, parse_whole(text, range));
        target = static_cast<uint32_t>(value);
        return {};
    };
}

Setter into(uint64_t& target, WholeRange range) {
    return [&target, range](std::string_view text) -> Result<void> {
        KVIK_TRY(target, parse_whole(text, range));
        return {};
    };
}

Setter into(std::vector<uint32_t>& target, WholeRange range) {
    return [&target, range](std::string_view text) -> Result<void> {
        std::vector<uint32_t> values;
        for (const std::string_view part : split(text, ',')) {
            KVIK_TRY(const uint64_t value, parse_whole(part, range));
            values.push_back(static_cast<uint32_t>(value));
        }
        target = std::move(values);
        return {};
    };
}

Setter into_bytes(uint64_t& target) {
    return [&target](std::string_view text) -> Result<void> {
        KVIK_TRY(target, parse_bytes(text));
        return {};
    };
}

Setter refuse(std::string why) {
    return [why = std::move(why)](std::string_view) -> Result<void> {
        return fail(ErrorKind::usage, why);
    };
}

Setter append_to(std::vector<std::string>& target) {
    return [&target](std::string_view text) -> Result<void> {
        target.emplace_back(text);
        return {};
    };
}

Error not_a_choice(std::string_view text, const std::vector<std::string_view>& words) {
    return {ErrorKind::usage, fmt::format("'{}' is not one of {}", text, fmt::join(words, ", "))};
}

}  // namespace kvik::cli
