#include "text/jinja/json_read.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "text/jinja/sequence.h"
#include "text/jinja/unicode.h"

namespace kvik::jinja {
namespace {

class Reader {
  public:
    Reader(Heap& heap, const MarkedText& json) : heap_(heap), json_(json), text_(json.text) {}

    Result<Value> document() {
        KVIK_TRY(Value value, any());
        skip_blanks();
        if (at_ != text_.size()) return expected("the end");
        return value;
    }

  private:
    tl::unexpected<Error> expected(std::string_view what) const {
        return type_error(fmt::format("JSON: expected {} at byte {}", what, at_));
    }
    void skip_blanks() {
        while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) {
            ++at_;
        }
    }
    bool take(char c) {
        skip_blanks();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    Result<Value> any();
    Result<Value> word(std::string_view spelling, Value value);
    Result<Value> number();
    Result<Value> string();
    Result<void> escape(TextBuilder& out);
    std::optional<char32_t> hex4();
    Result<Value> array();
    Result<Value> object();

    Heap& heap_;
    const MarkedText& json_;
    std::string_view text_;
    size_t at_ = 0;
    uint32_t depth_ = 0;
};

Result<Value> Reader::any() {
    KVIK_TRY_VOID(heap_.budget().steps());
    skip_blanks();
    if (at_ == text_.size()) return expected("a value");
    switch (text_[at_]) {
        case '{':
        case '[': {
            if (++depth_ > heap_.budget().limits().depth) {
                return type_error(
                    fmt::format("JSON nested deeper than {}", heap_.budget().limits().depth));
            }
            KVIK_TRY(Value value, text_[at_] == '{' ? object() : array());
            --depth_;
            return value;
        }
        case '"':
            return string();
        case 't':
            return word("true", true);
        case 'f':
            return word("false", false);
        case 'n':
            return word("null", None{});
        default:
            return number();
    }
}

Result<Value> Reader::word(std::string_view spelling, Value value) {
    if (text_.substr(at_, spelling.size()) != spelling) return expected("a value");
    at_ += spelling.size();
    return value;
}

Result<Value> Reader::number() {
    const size_t begin = at_;
    const auto digits = [&] {
        const size_t first = at_;
        while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
        return at_ - first;
    };
    const auto peek = [&](std::string_view any_of) {
        return at_ < text_.size() && any_of.find(text_[at_]) != any_of.npos;
    };
    if (peek("-")) ++at_;
    const bool zero = peek("0");
    const size_t n_digits = digits();
    if (n_digits == 0 || (zero && n_digits > 1)) return expected("a value");
    bool integer = true;
    if (peek(".")) {
        integer = false;
        ++at_;
        if (digits() == 0) return expected("a digit");
    }
    if (peek("eE")) {
        integer = false;
        ++at_;
        if (peek("+-")) ++at_;
        if (digits() == 0) return expected("a digit");
    }
    const char* first = text_.data() + begin;
    const char* last = text_.data() + at_;
    int64_t whole = 0;
    if (integer && std::from_chars(first, last, whole).ec == std::errc()) return Value(whole);
    if (integer) {
        constexpr size_t kMostDigits = 4300;  // as Python has it
        if (n_digits > kMostDigits) {
            return type_error(fmt::format("JSON: the number at byte {} has more than {} digits",
                                          begin, kMostDigits));
        }
        KVIK_TRY_VOID(heap_.budget().steps(n_digits * n_digits / 512));
        const BigInt size = *BigInt::parse(text_.substr(at_ - n_digits, n_digits), 10);
        return big_or_small(text_[begin] == '-' ? size.negated() : size);
    }
    double real = 0;
    if (std::from_chars(first, last, real).ec != std::errc()) {
        return type_error(fmt::format("JSON: the number at byte {} fits no float", begin));
    }
    return Value(real);
}

std::optional<char32_t> Reader::hex4() {
    uint32_t code = 0;
    if (text_.size() - at_ < 4) return std::nullopt;
    const char* first = text_.data() + at_;
    if (std::from_chars(first, first + 4, code, 16).ptr != first + 4) return std::nullopt;
    at_ += 4;
    return code;
}

// `at_` is the byte after the backslash.
Result<void> Reader::escape(TextBuilder& out) {
    const Mark mark = mark_at(json_, at_ - 1);
    if (at_ == text_.size()) return expected("an escape");
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    const char name = text_[at_++];
    if (const size_t i = kNames.find(name); i != kNames.npos) {
        out.add(kMeant.substr(i, 1), mark);
        return {};
    }
    if (name != 'u') return expected("an escape");
    std::optional<char32_t> code = hex4();
    if (!code) return expected("four hex digits");
    if (*code >= 0xD800 && *code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
        const size_t before = at_;
        at_ += 2;
        const std::optional<char32_t> low = hex4();
        if (low && *low >= 0xDC00 && *low < 0xE000) {
            code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
        } else {
            at_ = before;
        }
    }
    std::string bytes;
    append_utf8(bytes, *code >= 0xD800 && *code < 0xE000 ? 0xFFFD : *code);
    out.add(bytes, mark);
    return {};
}

Result<Value> Reader::string() {
    TextBuilder out(heap_.budget());
    ++at_;
    while (true) {
        const size_t stop = text_.find_first_of("\"\\", at_);
        if (stop == text_.npos) {
            at_ = text_.size();
            return expected("a closing quote");
        }
        out.add(json_, {at_, stop});
        at_ = stop + 1;
        if (text_[stop] == '"') return heap_.string(out);
        KVIK_TRY_VOID(escape(out));
    }
}

Result<Value> Reader::array() {
    ++at_;
    std::vector<Value> items;
    if (take(']')) return list_of(heap_, std::move(items));
    do {
        KVIK_TRY(Value item, any());
        items.push_back(std::move(item));
    } while (take(','));
    if (!take(']')) return expected("',' or ']'");
    return list_of(heap_, std::move(items));
}

Result<Value> Reader::object() {
    ++at_;
    Dict* dict = heap_.dict();
    if (take('}')) return Value(dict);
    do {
        skip_blanks();
        if (at_ == text_.size() || text_[at_] != '"') return expected("a key in quotes");
        KVIK_TRY(Value name, string());
        if (!take(':')) return expected("':'");
        KVIK_TRY(Value value, any());
        const std::string key = key_of(name.str()->view());
        dict->set(key, std::move(name), std::move(value));
    } while (take(','));
    if (!take('}')) return expected("',' or '}'");
    return Value(dict);
}

}  // namespace

Result<Value> read_json(Heap& heap, const MarkedText& json) {
    return Reader(heap, json).document();
}

}  // namespace kvik::jinja
