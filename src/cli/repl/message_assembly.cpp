#include "cli/repl/message_assembly.h"

#include <utility>

namespace kvik::cli {
namespace {

constexpr std::string_view kQuotes = "\"\"\"";
constexpr std::string_view kBlank = " \t\n";

std::string_view without_end(std::string_view text, std::string_view characters) {
    return text.substr(0, text.find_last_not_of(characters) + 1);
}

// An odd number of backslashes at the end: the last one is no text.
bool goes_on(std::string_view line) {
    const size_t n_backslashes = line.size() - without_end(line, "\\").size();
    return n_backslashes % 2 == 1 && line.find('\n') == std::string_view::npos;
}

}  // namespace

MessageAssembly::State MessageAssembly::take(std::string_view lines) {
    if (open_ == Open::quotes) return take_quoted(lines);
    if (open_ == Open::no) {
        const size_t first = lines.find_first_not_of(kBlank);
        if (first != std::string_view::npos && lines.substr(first).starts_with(kQuotes)) {
            open_ = Open::quotes;
            typed_.quoted = true;
            const std::string_view rest = lines.substr(first + kQuotes.size());
            return without_end(rest, kBlank).empty() ? State::wants_more : take_quoted(rest);
        }
    }
    const bool more = goes_on(lines);
    typed_.text += lines.substr(0, lines.size() - (more ? 1 : 0));
    if (more) typed_.text += '\n';
    open_ = more ? Open::backslash : Open::no;
    return more ? State::wants_more : State::complete;
}

MessageAssembly::State MessageAssembly::take_quoted(std::string_view lines) {
    std::string_view text = without_end(lines, kBlank);
    const bool closes = text.ends_with(kQuotes);
    text = closes ? text.substr(0, text.size() - kQuotes.size()) : lines;
    // The line of the closing quotes is one only if something stands before them.
    if (!closes || !text.empty()) {
        if (has_line_) typed_.text += '\n';
        typed_.text += text;
        has_line_ = true;
    }
    return closes ? State::complete : State::wants_more;
}

Typed MessageAssembly::finish() {
    if (open_ == Open::backslash && typed_.text.ends_with('\n')) typed_.text.pop_back();
    open_ = Open::no;
    has_line_ = false;
    return std::exchange(typed_, {});
}

}  // namespace kvik::cli
