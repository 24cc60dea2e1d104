#include "text/jinja/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "text/jinja/number_text.h"
#include "text/jinja/unicode.h"
#include "text/utf8.h"

namespace kvik::jinja {
namespace {

std::string with_plain_line_ends(std::string_view source) {
    std::string out;
    out.reserve(source.size());
    for (size_t i = 0; i < source.size(); ++i) {
        if (source[i] != '\r') {
            out += source[i];
            continue;
        }
        out += '\n';
        if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    }
    if (out.ends_with('\n')) out.pop_back();
    return out;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_name_start(char c) {
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || (c & 0x80);
}

bool is_name(char c) {
    return is_name_start(c) || is_digit(c);
}

size_t skip_spaces(std::string_view text, size_t at) {
    while (at < text.size()) {
        const Character c = character_at(text, at);
        if (!is_space(c.code)) break;
        at += c.n_bytes;
    }
    return at;
}

class Lexer {
  public:
    explicit Lexer(std::string_view source) : text_(source) {}
    Result<std::vector<Token>> run();

  private:
    struct Opening {
        size_t begin = 0;  // of the tag
        size_t inside = 0;
        char kind = 0;  // { % #
        char sign = 0;  // - + or none
    };

    struct Ending {
        size_t end = 0;   // of the tag
        size_t next = 0;  // after what the tag eats
    };

    void add(TokenKind kind, size_t begin, size_t end);
    Position position(size_t at);
    Opening next_opening() const;
    void add_text(size_t end, const Opening& before);
    Result<void> comment(const Opening& opening);
    Result<bool> raw(const Opening& opening);
    Result<void> tag(const Opening& opening);
    std::optional<Ending> ending_at(char kind, size_t at) const;
    Result<void> token();
    Result<void> bracket(char c);
    void leave(size_t end);

    std::string_view text_;
    size_t at_ = 0;
    bool line_starts_ = true;  // the text at at_ begins a line
    std::string open_brackets_;
    std::vector<Token> tokens_;
    size_t seen_ = 0;  // where position() stands
    Position here_;
};

// Tokens are asked for in ascending order, so that this is linear over a whole source.
Position Lexer::position(size_t at) {
    while (seen_ < at) {
        const Character c = character_at(text_, seen_);
        if (c.code == '\n') {
            here_ = {here_.line + 1, 1};
        } else {
            ++here_.column;
        }
        seen_ += c.n_bytes;
    }
    return here_;
}

void Lexer::add(TokenKind kind, size_t begin, size_t end) {
    tokens_.push_back({kind, position(begin), text_.substr(begin, end - begin)});
}

Lexer::Opening Lexer::next_opening() const {
    Opening found;
    for (found.begin = at_;; ++found.begin) {
        found.begin = text_.find('{', found.begin);
        if (found.begin == text_.npos) return found;
        const char kind = found.begin + 1 < text_.size() ? text_[found.begin + 1] : '\0';
        if (kind != '{' && kind != '%' && kind != '#') continue;
        found.kind = kind;
        found.inside = found.begin + 2;
        const char sign = found.inside < text_.size() ? text_[found.inside] : '\0';
        if (sign == '-' || sign == '+') {
            found.sign = sign;
            ++found.inside;
        }
        return found;
    }
}

// The text up to a tag, less the blanks that the tag eats.
void Lexer::add_text(size_t end, const Opening& before) {
    const size_t begin = at_;
    const std::string_view all = text_.substr(begin, end - begin);
    size_t kept = all.size();
    if (before.sign == '-') {
        for (size_t at = kept = 0; at < all.size();) {
            const Character c = character_at(all, at);
            at += c.n_bytes;
            if (!is_space(c.code)) kept = at;
        }
    } else if (before.sign != '+' && before.kind != '{') {
        const size_t line = all.rfind('\n') + 1;  // npos + 1 == 0
        if ((line > 0 || line_starts_) && skip_spaces(all, line) == all.size()) kept = line;
    }
    if (kept > 0) add(TokenKind::text, begin, begin + kept);
}

void Lexer::leave(size_t end) {
    line_starts_ = end > 0 && text_[end - 1] == '\n';
    at_ = end;
}

Result<void> Lexer::comment(const Opening& opening) {
    const size_t close_at = text_.find("#}", opening.inside);
    if (opening.inside == text_.size()) {  // an opening that ends the template opens nothing
        leave(opening.inside);
        return {};
    }
    if (close_at == text_.npos) {
        return fail_at(position(opening.begin), ErrorKind::file, "a comment has no end '#}'");
    }
    const char sign = close_at > opening.inside ? text_[close_at - 1] : '\0';
    size_t end = close_at + 2;
    if (sign == '-') {
        end = skip_spaces(text_, end);
    } else if (sign != '+' && end < text_.size() && text_[end] == '\n') {
        ++end;
    }
    leave(end);
    return {};
}

// {% raw %} ... {% endraw %}: whether this was one.
Result<bool> Lexer::raw(const Opening& opening) {
    const auto word = [&](size_t at, std::string_view name) -> size_t {
        at = skip_spaces(text_, at);
        return text_.substr(at, name.size()) == name ? skip_spaces(text_, at + name.size())
                                                     : text_.npos;
    };
    size_t at = word(opening.inside, "raw");
    if (at == text_.npos) return false;
    if (text_.substr(at, 2) == "%}") {
        at += 2;
    } else if (text_.substr(at, 3) == "-%}") {
        at = skip_spaces(text_, at + 3);
    } else {
        return false;
    }
    leave(at);
    for (size_t from = at;; from += 2) {
        from = text_.find("{%", from);
        if (from == text_.npos) break;
        Opening last{from, from + 2, '%', 0};
        if (last.inside < text_.size() &&
            (text_[last.inside] == '-' || text_[last.inside] == '+')) {
            last.sign = text_[last.inside++];
        }
        const size_t after = word(last.inside, "endraw");
        if (after == text_.npos) continue;
        if (const auto ending = ending_at('%', after)) {
            add_text(from, last);
            leave(ending->next);
            return true;
        }
    }
    return fail_at(position(opening.begin), ErrorKind::file, "a raw block has no endraw");
}

// Where the tag ends if it ends at `at`.
std::optional<Lexer::Ending> Lexer::ending_at(char kind, size_t at) const {
    const char sign = at < text_.size() ? text_[at] : '\0';
    const bool is_signed = sign == '-' || (sign == '+' && kind == '%');
    const size_t mark = std::min(at + is_signed, text_.size());
    if (text_.substr(mark, 2) != (kind == '{' ? "}}" : "%}")) return std::nullopt;
    const size_t end = mark + 2;
    if (sign == '-') return Ending{end, skip_spaces(text_, end)};
    const bool eats_line_end =
        kind == '%' && sign != '+' && end < text_.size() && text_[end] == '\n';
    return Ending{end, end + eats_line_end};
}

Result<void> Lexer::bracket(char c) {
    constexpr std::string_view kOpen = "([{";
    constexpr std::string_view kClose = ")]}";
    if (const size_t i = kOpen.find(c); i != kOpen.npos) {
        open_brackets_ += kClose[i];
    } else if (kClose.find(c) != kClose.npos) {
        if (open_brackets_.empty() || open_brackets_.back() != c) {
            return fail_at(position(at_), ErrorKind::file, fmt::format("unexpected '{}'", c));
        }
        open_brackets_.pop_back();
    }
    return {};
}

Result<void> Lexer::token() {
    const std::string_view rest = text_.substr(at_);
    const char c = rest[0];
    if (is_digit(c)) {
        const size_t real = at_ > 0 && text_[at_ - 1] == '.' ? 0 : scan_real(rest);
        const size_t n = real > 0 ? real : scan_integer(rest);
        add(real > 0 ? TokenKind::real : TokenKind::integer, at_, at_ + n);
        at_ += n;
        return {};
    }
    if (is_name_start(c)) {
        const size_t n =
            static_cast<size_t>(std::find_if_not(rest.begin(), rest.end(), is_name) - rest.begin());
        add(TokenKind::name, at_, at_ + n);
        at_ += n;
        return {};
    }
    if (c == '"' || c == '\'') {
        size_t end = 1;
        while (end < rest.size() && rest[end] != c) end += rest[end] == '\\' ? 2 : 1;
        if (end >= rest.size()) {
            return fail_at(position(at_), ErrorKind::file, "a string has no closing quote");
        }
        add(TokenKind::string, at_, at_ + end + 1);
        at_ += end + 1;
        return {};
    }
    for (const std::string_view two : {"//", "**", "==", "!=", ">=", "<="}) {
        if (!rest.starts_with(two)) continue;
        add(TokenKind::symbol, at_, at_ + 2);
        at_ += 2;
        return {};
    }
    if (std::string_view("+-/*%~[](){}><=.:|,;").find(c) == std::string_view::npos) {
        return fail_at(position(at_), ErrorKind::file, fmt::format("unexpected character '{}'", c));
    }
    KVIK_TRY_VOID(bracket(c));
    add(TokenKind::symbol, at_, at_ + 1);
    ++at_;
    return {};
}

Result<void> Lexer::tag(const Opening& opening) {
    add(opening.kind == '{' ? TokenKind::output_begin : TokenKind::block_begin, opening.begin,
        opening.inside);
    at_ = opening.inside;
    open_brackets_.clear();
    while (true) {
        at_ = skip_spaces(text_, at_);
        // Inside brackets "}}" closes two of them, not the tag.
        const auto ending =
            open_brackets_.empty() ? ending_at(opening.kind, at_) : std::optional<Ending>();
        if (ending) {
            add(opening.kind == '{' ? TokenKind::output_end : TokenKind::block_end, at_,
                ending->end);
            leave(ending->next);
            return {};
        }
        if (at_ == text_.size()) {
            return fail_at(tokens_.back().at, ErrorKind::file,
                           "the template ends inside a tag that begins here or before");
        }
        KVIK_TRY_VOID(token());
    }
}

Result<std::vector<Token>> Lexer::run() {
    while (at_ < text_.size()) {
        const Opening opening = next_opening();
        if (opening.kind == 0) {
            add(TokenKind::text, at_, text_.size());
            break;
        }
        add_text(opening.begin, opening);
        if (opening.kind == '#') {
            KVIK_TRY_VOID(comment(opening));
            continue;
        }
        if (opening.kind == '%') {
            KVIK_TRY(const bool was_raw, raw(opening));
            if (was_raw) continue;
        }
        KVIK_TRY_VOID(tag(opening));
    }
    add(TokenKind::end, text_.size(), text_.size());
    return std::move(tokens_);
}

}  // namespace

tl::unexpected<Error> fail_at(Position at, ErrorKind kind, std::string_view message) {
    constexpr size_t kLongest = 4096;  // a message may quote what the template made
    const bool cut = message.size() > kLongest;
    if (cut) message = message.substr(0, byte_of(message, kLongest / 4));
    return fail(kind, fmt::format("chat template, line {} column {}: {}{}", at.line, at.column,
                                  message, cut ? "..." : ""));
}

Result<Tokens> tokenize(std::string_view source, const Limits& limits) {
    if (source.size() > limits.source_bytes) {
        return fail(ErrorKind::file,
                    fmt::format("chat template: {} bytes, the limit is {}: use another template",
                                source.size(), limits.source_bytes));
    }
    Tokens out;
    out.source = std::make_unique<const std::string>(with_plain_line_ends(source));
    if (const size_t valid = utf8_valid_prefix(*out.source); valid < out.source->size()) {
        return fail(ErrorKind::file, fmt::format("chat template: not UTF-8 at byte {}", valid));
    }
    KVIK_TRY(out.list, Lexer(*out.source).run());
    return out;
}

}  // namespace kvik::jinja
