#include "text/pretokenizer_regex.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "text/utf8.h"

namespace kvik {
namespace {

// White_Space and all other characters, as parts of a class.
constexpr std::string_view kSpace = R"(\t-\r\x{85}\p{Z})";
constexpr std::string_view kNoSpace =
    R"(\x{0}-\x{8}\x{E}-\x{1F}\x{21}-\x{84}\x{86}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF})"
    R"(\x{200B}-\x{2027}\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{10FFFF})";

constexpr std::array<std::string_view, 6> kGroups = {"(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!"};

// General categories and the scripts that pre-tokenizers name.
constexpr std::array<std::string_view, 44> kProperties = {
    "L",   "Ll",       "Lm",       "Lo",     "Lt",    "Lu",    "M",        "Mc",  "Me",
    "Mn",  "N",        "Nd",       "Nl",     "No",    "P",     "Pc",       "Pd",  "Pe",
    "Pf",  "Pi",       "Po",       "Ps",     "S",     "Sc",    "Sk",       "Sm",  "So",
    "Z",   "Zl",       "Zp",       "Zs",     "C",     "Cc",    "Cf",       "Co",  "Cs",
    "Han", "Hiragana", "Katakana", "Hangul", "Latin", "Greek", "Cyrillic", "Thai"};

class Translator {
  public:
    explicit Translator(std::string_view source) : source_(source) {}

    Result<std::string> run() {
        if (source_.empty() || source_.size() > kMaxRegexBytes)
            return refuse(
                fmt::format("has {} bytes, 1 to {} can be used", source_.size(), kMaxRegexBytes));
        if (utf8_valid_prefix(source_) != source_.size()) return refuse("is not UTF-8");
        while (at_ < source_.size() && !problem_) one();
        if (!problem_ && depth_ != 0) problem_ = "does not close a group";
        if (problem_) return refuse(*problem_);
        return std::move(out_);
    }

  private:
    tl::unexpected<Error> refuse(std::string_view problem) const {
        return fail(ErrorKind::unsupported,
                    fmt::format("pre-tokenizer pattern '{}' {}: use a model with another one",
                                shown(source_), problem));
    }
    void stop(std::string problem) { problem_ = std::move(problem); }
    char now() const { return source_[at_]; }
    std::string_view rest() const { return source_.substr(at_); }
    void copy(size_t n_bytes) {
        out_ += rest().substr(0, n_bytes);
        at_ += n_bytes;
    }

    void one() {
        switch (now()) {
            case '\\':
                return escape();
            case '[':
                return open_class();
            case '(':
                return open_group();
            case ')':
                if (depth_ == 0) return stop("closes a group that is not open");
                --depth_;
                return copy(1), quantifier();
            case '|':
                return copy(1);
            case '{':
            case '*':
            case '+':
            case '?':
                return stop("has a quantifier of nothing, or two of one thing");
            case '^':
            case '$':
            case '.':
                return stop(fmt::format("has '{}', whose meaning depends on lines", now()));
            default:
                return copy(utf8_unit(rest()).n_bytes), quantifier();
        }
    }

    void open_group() {
        const auto group = std::find_if(kGroups.begin(), kGroups.end(),
                                        [&](auto name) { return rest().starts_with(name); });
        const bool is_plain = !rest().starts_with("(?") && !rest().starts_with("(*");
        if (group == kGroups.end() && !is_plain)
            return stop(fmt::format("has the group '{}'", shown(rest().substr(0, 4))));
        ++depth_;
        if (group != kGroups.end()) return copy(group->size());
        out_ += "(?:";  // nobody asks what it caught
        at_ += 1;
    }

    void escape() {
        if (at_ + 1 == source_.size()) return stop("ends in a backslash");
        switch (source_[at_ + 1]) {
            case 's':
                out_.append("[").append(kSpace).append("]");
                at_ += 2;
                break;
            case 'S':
                out_.append("[^").append(kSpace).append("]");
                at_ += 2;
                break;
            default:
                character_escape();
        }
        if (!problem_) quantifier();
    }

    // Those that mean the same inside of a class and outside.
    void character_escape() {
        const char c = source_[at_ + 1];
        if (c == 'd' || c == 'D') {
            out_ += c == 'd' ? R"(\p{Nd})" : R"(\P{Nd})";
            at_ += 2;
        } else if (c == 'p' || c == 'P') {
            property();
        } else if (c == 'x' || c == 'u') {
            hexadecimal();
        } else if (c == 'r' || c == 'n' || c == 't' || c == 'f' || is_punctuation(c)) {
            copy(2);
        } else {
            stop(fmt::format("has '\\{}'", shown(source_.substr(at_ + 1, 1))));
        }
    }

    static bool is_punctuation(char c) {
        return c > ' ' && c < 0x7F && !(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') &&
               !(c >= 'a' && c <= 'z');
    }

    void property() {
        const size_t close = rest().find('}');
        if (at_ + 2 >= source_.size() || source_[at_ + 2] != '{' || close == std::string_view::npos)
            return stop("has \\p without {}");
        const std::string_view name = rest().substr(3, close - 3);
        if (std::find(kProperties.begin(), kProperties.end(), name) == kProperties.end())
            return stop(fmt::format("has \\p{{{}}}", shown(name)));
        copy(close + 1);
    }

    // \xHH, \x{H...}, \uHHHH
    void hexadecimal() {
        const bool braces = rest().substr(1).starts_with("x{");
        const size_t begin = braces ? 3 : 2;
        const size_t most = braces ? 6 : source_[at_ + 1] == 'u' ? 4 : 2;
        size_t n = 0;
        while (n < most && at_ + begin + n < source_.size() &&
               std::string_view("0123456789abcdefABCDEF").find(source_[at_ + begin + n]) !=
                   std::string_view::npos)
            ++n;
        const bool closed = !braces || rest().substr(begin + n).starts_with('}');
        if (n == 0 || (!braces && n != most) || !closed) return stop("has a broken \\x or \\u");
        if (most == 2 && source_[at_ + begin] > '7') return stop("names a byte by \\x");
        out_ += fmt::format("\\x{{{}}}", rest().substr(begin, n));
        at_ += begin + n + (braces ? 1 : 0);
    }

    void open_class() {
        copy(1);
        if (at_ < source_.size() && now() == '^') copy(1);
        bool is_empty = true;
        while (at_ < source_.size() && !problem_ && now() != ']') {
            is_empty = false;
            if (now() == '[' || rest().starts_with("&&"))
                return stop("has a class inside of a class");
            if (now() == '\\' && at_ + 1 < source_.size() &&
                (source_[at_ + 1] == 's' || source_[at_ + 1] == 'S')) {
                if (source_[at_ - 1] == '-') return stop("has a range that ends in white space");
                out_ += source_[at_ + 1] == 's' ? kSpace : kNoSpace;
                at_ += 2;
            } else if (now() == '\\') {
                if (at_ + 1 == source_.size()) return stop("ends in a backslash");
                character_escape();
            } else {
                copy(utf8_unit(rest()).n_bytes);
            }
        }
        if (problem_) return;
        if (at_ == source_.size()) return stop("does not close a class");
        if (is_empty) return stop("has an empty class");
        copy(1);
        quantifier();
    }

    void quantifier() {
        if (at_ == source_.size()) return;
        const bool braces = now() == '{';
        if (braces) {
            const size_t close = rest().find('}');
            const std::string_view inside =
                rest().substr(1, close == std::string_view::npos ? 0 : close - 1);
            if (inside.empty() || inside[0] == ',' || inside.size() > 7 ||
                inside.find_first_not_of("0123456789,") != std::string_view::npos ||
                std::count(inside.begin(), inside.end(), ',') > 1)
                return stop("has braces that are no {n}, {n,} or {n,m}");
            copy(close + 1);
        } else if (now() == '*' || now() == '+' || now() == '?') {
            copy(1);
        } else {
            return;
        }
        if (at_ == source_.size()) return;
        if (now() == '?' || (now() == '+' && !braces)) copy(1);
    }

    std::string_view source_;
    size_t at_ = 0;
    size_t depth_ = 0;
    std::string out_;
    std::optional<std::string> problem_;
};

}  // namespace

Result<std::string> translate_regex(std::string_view source) {
    return Translator(source).run();
}

}  // namespace kvik
