#include "cli/toml.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "cli/terminal.h"
#include "cli/toml_number.h"
#include "formats/utf8.h"

namespace kvik::cli {
namespace {

bool is_key_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

class Reader {
  public:
    Reader(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

    Result<std::vector<TomlEntry>> read() {
        if (!is_utf8(rest_)) return refuse("the file is not UTF-8");
        if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
        for (;;) {
            KVIK_TRY_VOID(skip_to_value());
            if (rest_.empty()) return std::move(entries_);
            if (rest_.starts_with('[')) {
                KVIK_TRY_VOID(read_header());
            } else {
                KVIK_TRY_VOID(read_pair());
            }
            skip_blanks();
            KVIK_TRY_VOID(skip_comment());
            if (!rest_.empty() && rest_.front() != '\n') return refuse_word("after the value");
        }
    }

  private:
    tl::unexpected<Error> refuse(std::string_view what) const {
        return fail(ErrorKind::usage,
                    fmt::format("{}:{}: {}", name_, line_, cut_to_columns(printable(what), 120)));
    }
    tl::unexpected<Error> refuse_word(std::string_view where) const {
        const size_t end = std::min(rest_.find_first_of(" \t\r\n,]"), rest_.size());
        const std::string_view word = rest_.substr(0, std::clamp<size_t>(end, 1, 30));
        return refuse(rest_.empty() ? fmt::format("the file ends {}", where)
                                    : fmt::format("'{}' has no place {}", word, where));
    }
    void advance(size_t n_bytes) {
        line_ += static_cast<uint32_t>(std::count(rest_.begin(), rest_.begin() + n_bytes, '\n'));
        rest_.remove_prefix(n_bytes);
    }
    void skip_blanks() {
        while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_.starts_with("\r\n")))
            rest_.remove_prefix(1);
    }
    Result<void> skip_comment() {
        if (!rest_.starts_with('#')) return {};
        const size_t end = std::min(rest_.find('\n'), rest_.size());
        KVIK_TRY_VOID(check_letters(rest_.substr(0, end - (rest_[end - 1] == '\r' ? 1 : 0))));
        rest_.remove_prefix(end);
        return {};
    }
    // Over blanks, ends of lines and comments.
    Result<void> skip_to_value() {
        for (;;) {
            skip_blanks();
            KVIK_TRY_VOID(skip_comment());
            if (!rest_.starts_with('\n')) return {};
            advance(1);
        }
    }
    Result<void> check_letters(std::string_view text) const {
        for (const char c : text)
            if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f)
                return refuse(fmt::format("a control character, {}", c));
        return {};
    }

    // [table]
    Result<void> read_header() {
        if (rest_.starts_with("[[")) return refuse("a list of tables sets nothing here");
        rest_.remove_prefix(1);
        KVIK_TRY(const auto path, read_key());
        if (!rest_.starts_with(']')) return refuse_word("in the name of a table");
        rest_.remove_prefix(1);
        if (path.size() > 1)
            return refuse(
                fmt::format("{}.{} is a table: a verb's table holds values", path[0], path[1]));
        table_ = path[0];
        return add({table_, "", line_});
    }

    Result<void> read_pair() {
        TomlEntry entry{.table = table_, .key = {}, .line = line_};
        KVIK_TRY(auto path, read_key());
        if (path.size() > (table_.empty() ? 2 : 1))
            return refuse(fmt::format("{} is a table: a verb's table holds values",
                                      fmt::join(path.begin(), path.end() - 1, ".")));
        if (path.size() == 2) entry.table = path[0];
        entry.key = path.back();
        if (entry.key.empty()) return refuse("a key is empty");
        if (!rest_.starts_with('=')) return refuse_word("where '=' follows a key");
        rest_.remove_prefix(1);
        skip_blanks();
        KVIK_TRY_VOID(read_value(entry));
        return add(std::move(entry));
    }

    // A name is a value or a table, and each is there once.
    Result<void> add(TomlEntry entry) {
        const bool is_other = entry.table.empty() ? seen_.contains({entry.key, ""})
                                                  : seen_.contains({"", entry.table});
        if (is_other)
            return refuse(fmt::format("{} is a value and a table",
                                      entry.table.empty() ? entry.key : entry.table));
        if (!seen_.emplace(entry.table, entry.key).second)
            return refuse(entry.key.empty() ? fmt::format("[{}] is there twice", entry.table)
                                            : fmt::format("'{}' is set twice", entry.key));
        if (!entry.table.empty()) seen_.emplace(entry.table, "");
        entries_.push_back(std::move(entry));
        return {};
    }

    // Parts of a dotted key, and the blanks after it.
    Result<std::vector<std::string>> read_key() {
        std::vector<std::string> path;
        for (;;) {
            skip_blanks();
            if (rest_.starts_with('"') || rest_.starts_with('\'')) {
                KVIK_TRY(path.emplace_back(), read_line_text());
            } else {
                const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_key_letter);
                const auto n = static_cast<size_t>(end - rest_.begin());
                if (n == 0) return refuse_word("where a key is expected");
                path.emplace_back(rest_.substr(0, n));
                rest_.remove_prefix(n);
            }
            skip_blanks();
            if (!rest_.starts_with('.')) return path;
            rest_.remove_prefix(1);
        }
    }

    Result<void> read_value(TomlEntry& entry) {
        if (rest_.starts_with('{'))
            return refuse(fmt::format("{}: a table in braces sets nothing here", entry.key));
        if (rest_.starts_with('[')) {
            KVIK_TRY(entry.value, read_list(entry.key));
            return {};
        }
        for (const bool truth : {true, false}) {
            const std::string_view word = truth ? "true" : "false";
            const bool ends = rest_.size() == word.size() ||
                              (rest_.size() > word.size() && !is_key_letter(rest_[word.size()]));
            if (!rest_.starts_with(word) || !ends) continue;
            rest_.remove_prefix(word.size());
            entry.value = truth;
            return {};
        }
        KVIK_TRY(entry.value, read_scalar(entry.key));
        return {};
    }

    Result<std::vector<std::string>> read_list(std::string_view key) {
        std::vector<std::string> list;
        rest_.remove_prefix(1);
        for (;;) {
            KVIK_TRY_VOID(skip_to_value());
            if (rest_.starts_with(']')) break;
            if (rest_.starts_with('[') || rest_.starts_with('{'))
                return refuse(
                    fmt::format("{}: element {} is neither a text nor a number", key, list.size()));
            KVIK_TRY(list.emplace_back(), read_scalar(key));
            KVIK_TRY_VOID(skip_to_value());
            if (rest_.starts_with(']')) break;
            if (!rest_.starts_with(',')) return refuse_word("in a list");
            rest_.remove_prefix(1);
        }
        rest_.remove_prefix(1);
        return list;
    }

    // A text or a number.
    Result<std::string> read_scalar(std::string_view key) {
        if (rest_.starts_with("\"\"\"") || rest_.starts_with("'''")) return read_long_text();
        if (rest_.starts_with('"') || rest_.starts_with('\'')) return read_line_text();
        const size_t end = std::min(rest_.find_first_of(" \t\r\n,]}#"), rest_.size());
        const std::string_view word = rest_.substr(0, end);
        if (word.empty()) return refuse_word(fmt::format("as the value of {}", key));
        auto number = toml_number(word);
        if (!number && word.find_first_not_of("0123456789-:.TZ") == std::string_view::npos)
            return refuse(fmt::format("{}: dates and times set nothing here", key));
        if (!number)
            return refuse(fmt::format("{}: {} is no value: a text stands in quotes", key,
                                      word.substr(0, 30)));
        rest_.remove_prefix(end);
        return std::move(*number);
    }

    // "..." or '...' in one line.
    Result<std::string> read_line_text() {
        const char quote = rest_.front();
        rest_.remove_prefix(1);
        std::string text;
        for (;;) {
            const size_t n =
                std::min(rest_.find_first_of(quote == '"' ? "\"\\\n" : "'\n"), rest_.size());
            KVIK_TRY_VOID(check_letters(rest_.substr(0, n)));
            text += rest_.substr(0, n);
            rest_.remove_prefix(n);
            if (rest_.empty() || rest_.front() == '\n') return refuse("a text does not end");
            if (rest_.front() == quote) break;
            KVIK_TRY_VOID(read_escape(text));
        }
        rest_.remove_prefix(1);
        return text;
    }

    // """...""" or '''...''' over lines; a line end right after the quotes does not count.
    Result<std::string> read_long_text() {
        const std::string_view quotes = rest_.substr(0, 3);
        rest_.remove_prefix(3);
        const uint32_t first_line = line_;
        if (rest_.starts_with("\r\n")) rest_.remove_prefix(1);
        if (rest_.starts_with('\n')) advance(1);
        std::string text;
        while (!rest_.starts_with(quotes)) {
            if (rest_.empty()) {
                line_ = first_line;
                return refuse("a text does not end");
            }
            const char c = rest_.front();
            if (c == '\\' && quotes.front() == '"') {
                KVIK_TRY_VOID(read_escape(text));
                continue;
            }
            if (rest_.starts_with("\r\n")) rest_.remove_prefix(1);
            if (rest_.front() != '\n') KVIK_TRY_VOID(check_letters(rest_.substr(0, 1)));
            text += rest_.front();
            advance(1);
        }
        rest_.remove_prefix(3);
        // Up to two quotes may stand before the closing ones.
        for (int i = 0; i < 2 && rest_.starts_with(quotes.front()); ++i) {
            text += quotes.front();
            rest_.remove_prefix(1);
        }
        return text;
    }

    // What a backslash stands for; at the end of a line it takes the blanks that follow away.
    Result<void> read_escape(std::string& text) {
        static constexpr std::pair<char, char> kEscapes[] = {{'b', '\b'}, {'t', '\t'}, {'n', '\n'},
                                                             {'f', '\f'}, {'r', '\r'}, {'"', '"'},
                                                             {'\\', '\\'}};
        rest_.remove_prefix(1);
        const char c = rest_.empty() ? '\0' : rest_.front();
        for (const auto& [letter, meant] : kEscapes) {
            if (c != letter) continue;
            text += meant;
            rest_.remove_prefix(1);
            return {};
        }
        if (c == 'u' || c == 'U') return read_code_point(c == 'u' ? 4 : 8, text);
        const size_t blanks = rest_.find_first_not_of(" \t\r");
        if (blanks == std::string_view::npos || rest_[blanks] != '\n')
            return refuse("a backslash before what it does not go with");
        advance(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
        return {};
    }

    Result<void> read_code_point(size_t n_digits, std::string& text) {
        const std::string_view digits = rest_.substr(1, n_digits);
        uint32_t code = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        const bool is_read = error == std::errc{} && end == digits.data() + n_digits;
        if (!is_read || !utf8proc_codepoint_valid(static_cast<utf8proc_int32_t>(code)))
            return refuse(fmt::format("\\{}{} is no character", rest_.front(), digits));
        utf8proc_uint8_t bytes[4];
        const auto n = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
        text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(n));
        rest_.remove_prefix(1 + n_digits);
        return {};
    }

    std::string_view rest_;  // what was not read yet
    std::string_view name_;
    uint32_t line_ = 1;
    std::string table_;
    std::set<std::pair<std::string, std::string>> seen_;
    std::vector<TomlEntry> entries_;
};

}  // namespace

Result<std::vector<TomlEntry>> read_toml(std::string_view text, std::string_view name) {
    return Reader(text, name).read();
}

}  // namespace kvik::cli
