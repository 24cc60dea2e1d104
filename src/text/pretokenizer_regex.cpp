#include "text/pretokenizer_regex.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "text/utf8.h"

namespace kvik {
namespace {

struct GroupKind {
    std::string_view name;
    std::string_view written;
};
constexpr std::array<GroupKind, 6> kGroups = {{{"(?:", "(?:"},
                                               {"(?i:", "(?:"},
                                               {"(?=", "(?="},
                                               {"(?!", "(?!"},
                                               {"(?<=", "(?<="},
                                               {"(?<!", "(?<!"}}};

CodePoints one(uint32_t character) {
    return {character, character};
}

// What stands for one character: a single one, which may begin or end a range, or a set.
struct Atom {
    CodePoints set;
    std::optional<uint32_t> single;
};

class Translator {
  public:
    explicit Translator(std::string_view source) : source_(source) {}

    Result<KindRegex> run() {
        if (source_.empty() || source_.size() > kMaxRegexBytes)
            return refuse(
                fmt::format("has {} bytes, 1 to {} can be used", source_.size(), kMaxRegexBytes));
        if (utf8_valid_prefix(source_) != source_.size()) return refuse("is not UTF-8");
        while (at_ < source_.size() && !problem_) next();
        if (!problem_ && !ignores_case_.empty()) problem_ = "does not close a group";
        if (problem_) return refuse(*problem_);
        KindRegex regex;
        auto kinds = CharacterKinds::of(sets_);
        if (!kinds) return refuse(kinds.error().message);
        regex.kinds = std::move(*kinds);
        for (const Part& part : parts_)
            part.set ? write_set(regex, *part.set) : void(regex.pattern += part.text);
        return regex;
    }

  private:
    struct Part {
        std::string text;
        std::optional<size_t> set;
    };

    tl::unexpected<Error> refuse(std::string_view problem) const {
        return fail(ErrorKind::unsupported,
                    fmt::format("pre-tokenizer pattern '{}' {}: use another model, or token ids",
                                shown(source_), problem));
    }
    void stop(std::string problem) { problem_ = std::move(problem); }
    char now() const { return source_[at_]; }
    std::string_view rest() const { return source_.substr(at_); }
    void put(std::string_view text) { parts_.push_back({std::string(text), std::nullopt}); }
    void copy(size_t n_bytes) {
        put(rest().substr(0, n_bytes));
        at_ += n_bytes;
    }
    bool ignores_case() const { return !ignores_case_.empty() && ignores_case_.back(); }

    void put_set(CodePoints set) {
        const auto known = std::find(sets_.begin(), sets_.end(), set);
        parts_.push_back({"", static_cast<size_t>(known - sets_.begin())});
        if (known == sets_.end()) sets_.push_back(std::move(set));
    }

    static void write_set(KindRegex& regex, size_t set) {
        const std::vector<uint8_t>& kinds = regex.kinds.kinds_in(set);
        if (kinds.empty()) {
            regex.pattern += "(?!)";
            return;
        }
        regex.pattern += '[';
        for (const uint8_t kind : kinds) regex.pattern += fmt::format("\\x{:02X}", kind);
        regex.pattern += ']';
    }

    void next() {
        switch (now()) {
            case '[':
                return open_class();
            case '(':
                return open_group();
            case ')':
                if (ignores_case_.empty()) return stop("closes a group that is not open");
                ignores_case_.pop_back();
                return copy(1), quantifier();
            case '|':
                return copy(1);
            case '{':
            case '*':
            case '+':
            case '?':
                return stop("has a quantifier of nothing, or two of one thing");
            case '^':
                return stop("has '^', whose meaning depends on lines");
            case '$':  // before the end of a line or of the text
                put("(?!");
                put_set(one('\n').others());
                put(")");
                ++at_;
                return;
            case '.':
                put_set(one('\n').others());
                ++at_;
                return quantifier();
            default: {
                const std::optional<Atom> atom = read_atom();
                if (!atom) return;
                put_set(ignores_case() ? atom->set.in_any_case() : atom->set);
                quantifier();
            }
        }
    }

    void open_group() {
        const auto group = std::find_if(kGroups.begin(), kGroups.end(), [&](const GroupKind& kind) {
            return rest().starts_with(kind.name);
        });
        const bool is_plain = !rest().starts_with("(?") && !rest().starts_with("(*");
        if (group == kGroups.end() && !is_plain)
            return stop(fmt::format("has the group '{}'", shown(rest().substr(0, 4))));
        // Nobody asks what a plain one caught.
        const GroupKind kind = group == kGroups.end() ? GroupKind{"(", "(?:"} : *group;
        ignores_case_.push_back(ignores_case() || kind.name == "(?i:");
        put(kind.written);
        at_ += kind.name.size();
    }

    // A character, or an escape. Nothing: there is a problem.
    std::optional<Atom> read_atom() {
        if (now() != '\\') {
            const size_t n_bytes = utf8_unit(rest()).n_bytes;
            const uint32_t character = code_point_of(rest().substr(0, n_bytes));
            at_ += n_bytes;
            return Atom{one(character), character};
        }
        if (at_ + 1 == source_.size()) return stop("ends in a backslash"), std::nullopt;
        const char c = source_[at_ + 1];
        if (c == 'p' || c == 'P') return property();
        if (c == 'x' || c == 'u') return hexadecimal();
        const std::optional<Atom> atom = short_escape(c);
        if (!atom)
            stop(fmt::format("has '\\{}'", shown(source_.substr(at_ + 1, 1))));
        else
            at_ += 2;
        return atom;
    }

    static std::optional<Atom> short_escape(char c) {
        const auto single = [](uint32_t character) { return Atom{one(character), character}; };
        switch (c) {
            case 's':
                return Atom{CodePoints::white_space(), std::nullopt};
            case 'S':
                return Atom{CodePoints::white_space().others(), std::nullopt};
            case 'd':
                return Atom{*CodePoints::property("Nd"), std::nullopt};
            case 'D':
                return Atom{CodePoints::property("Nd")->others(), std::nullopt};
            case 'r':
                return single('\r');
            case 'n':
                return single('\n');
            case 't':
                return single('\t');
            case 'f':
                return single('\f');
            default:
                if (!is_punctuation(c)) return std::nullopt;
                return single(static_cast<uint8_t>(c));
        }
    }

    static bool is_punctuation(char c) {
        return c > ' ' && c < 0x7F && !(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') &&
               !(c >= 'a' && c <= 'z');
    }

    std::optional<Atom> property() {
        const bool is_not = source_[at_ + 1] == 'P';
        const size_t close = rest().find('}');
        if (at_ + 2 >= source_.size() || source_[at_ + 2] != '{' || close == std::string_view::npos)
            return stop("has \\p without {}"), std::nullopt;
        const std::string_view name = rest().substr(3, close - 3);
        const std::optional<CodePoints> set = CodePoints::property(name);
        if (!set) return stop(fmt::format("has \\p{{{}}}", shown(name))), std::nullopt;
        at_ += close + 1;
        return Atom{is_not ? set->others() : *set, std::nullopt};
    }

    // \xHH, \x{H...}, \uHHHH
    std::optional<Atom> hexadecimal() {
        const bool braces = rest().substr(1).starts_with("x{");
        const size_t begin = braces ? 3 : 2;
        const size_t most = braces ? 6 : source_[at_ + 1] == 'u' ? 4 : 2;
        const std::string_view digits = rest().substr(std::min(begin, rest().size()), most);
        uint32_t character = 0;
        const char* first = digits.data();
        const auto [end, error] = std::from_chars(first, first + digits.size(), character, 16);
        const size_t n = error == std::errc{} ? static_cast<size_t>(end - first) : 0;
        const bool closed = !braces || rest().substr(begin + n).starts_with('}');
        if (n == 0 || (!braces && n != most) || !closed || character > kLastCodePoint)
            return stop("has a broken \\x or \\u"), std::nullopt;
        if (most == 2 && character > 0x7F) return stop("names a byte by \\x"), std::nullopt;
        at_ += begin + n + (braces ? 1 : 0);
        return Atom{one(character), character};
    }

    void open_class() {
        ++at_;
        const bool is_not = at_ < source_.size() && now() == '^';
        if (is_not) ++at_;
        CodePoints set;
        bool is_empty = true;
        while (at_ < source_.size() && !problem_ && now() != ']') {
            is_empty = false;
            if (now() == '[' || rest().starts_with("&&"))
                return stop("has a class inside of a class");
            const std::optional<Atom> atom = read_atom();
            if (!atom) return;
            set.add(is_range() ? range_from(*atom) : atom->set);
        }
        if (problem_) return;
        if (at_ == source_.size()) return stop("does not close a class");
        if (is_empty) return stop("has an empty class");
        ++at_;
        if (ignores_case()) set = set.in_any_case();
        put_set(is_not ? set.others() : std::move(set));
        quantifier();
    }

    // A minus at the end of a class is one.
    bool is_range() const { return rest().size() > 1 && now() == '-' && source_[at_ + 1] != ']'; }

    CodePoints range_from(const Atom& first) {
        ++at_;
        const std::optional<Atom> last = now() == '[' ? std::nullopt : read_atom();
        if (!last && !problem_) stop("has a class inside of a class");
        if (problem_) return {};
        if (!first.single || !last->single || *first.single > *last->single) {
            stop("has a range that is none");
            return {};
        }
        return {*first.single, *last->single};
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
    std::vector<bool> ignores_case_;  // of each open group
    std::vector<Part> parts_;
    std::vector<CodePoints> sets_;
    std::optional<std::string> problem_;
};

}  // namespace

Result<KindRegex> translate_regex(std::string_view source) {
    return Translator(source).run();
}

}  // namespace kvik
