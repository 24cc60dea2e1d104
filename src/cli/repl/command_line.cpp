#include "cli/repl/command_line.h"

#include <charconv>

namespace kvik::cli {
namespace {

constexpr std::string_view kBlank = " \t\n";

}  // namespace

std::string_view trimmed(std::string_view text) {
    const size_t begin = text.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

std::optional<CommandLine> command_of(const Typed& typed) {
    const std::string_view text = typed.text;
    if (typed.quoted || !text.starts_with('/') || text.starts_with("//")) return std::nullopt;
    const size_t end = std::min(text.find_first_of(kBlank), text.size());
    return CommandLine{std::string(text.substr(0, end)), std::string(trimmed(text.substr(end)))};
}

std::string message_of(const Typed& typed) {
    const bool escaped = !typed.quoted && typed.text.starts_with("//");
    return escaped ? typed.text.substr(1) : typed.text;
}

NumberedText split_number(std::string_view rest) {
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    const auto n_digits = static_cast<size_t>(end - rest.data());
    const bool stands_alone =
        n_digits == rest.size() ||
        (n_digits < rest.size() && kBlank.find(rest[n_digits]) != std::string_view::npos);
    if (error != std::errc{} || !stands_alone) return {std::nullopt, rest};
    return {number, trimmed(rest.substr(n_digits))};
}

}  // namespace kvik::cli
