#include "text/jinja/json_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "text/jinja/compare.h"
#include "text/jinja/print.h"
#include "text/jinja/unicode.h"

namespace kvik::jinja {
namespace {

std::string utf16_escape(char32_t code) {
    if (code < 0x10000) return fmt::format("\\u{:04x}", static_cast<uint32_t>(code));
    const uint32_t above = static_cast<uint32_t>(code) - 0x10000;
    return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (above >> 10), 0xDC00 + (above & 0x3FF));
}

// What stands for a character inside quotes; empty: the character itself.
std::string escaped(char32_t code, JsonStyle::Characters characters) {
    constexpr std::string_view kMeant = "\"\\\b\f\n\r\t";
    constexpr std::string_view kNames = "\"\\bfnrt";
    if (code < 0x80) {
        const size_t i = kMeant.find(static_cast<char>(code));
        if (i != kMeant.npos) return {'\\', kNames[i]};
        const bool deletes = code == 0x7F && characters == JsonStyle::Characters::ascii;
        return code < 0x20 || deletes ? utf16_escape(code) : std::string();
    }
    const bool escapes = characters == JsonStyle::Characters::ascii && code != Character::kBroken;
    return escapes ? utf16_escape(code) : std::string();
}

class Writer {
  public:
    Writer(Heap& heap, TextBuilder& out, const JsonStyle& style)
        : heap_(heap), out_(out), style_(style) {}

    Result<void> any(const Value& value);

  private:
    void string(const MarkedText& text);
    Result<void> scalar(const Value& value);
    Result<void> key(const Value& name);
    Result<void> items(const List& list);
    Result<void> entries(const Dict& dict);
    Result<std::vector<const Dict::Entry*>> ordered(const Dict& dict);
    Result<void> enter();
    void new_line();

    Heap& heap_;
    TextBuilder& out_;
    const JsonStyle& style_;
    uint32_t depth_ = 0;
};

void Writer::string(const MarkedText& text) {
    const std::string_view s = text.text;
    out_.add("\"");
    size_t plain = 0;
    for (size_t at = 0; at < s.size() && !out_.full();) {
        const Character c = character_at(s, at);
        const std::string escape = escaped(c.code, style_.characters);
        if (!escape.empty()) {
            out_.add(text, {plain, at});
            out_.add(escape, mark_at(text, at));
            plain = at + c.n_bytes;
        }
        at += c.n_bytes;
    }
    out_.add(text, {plain, s.size()});
    out_.add("\"");
}

Result<void> Writer::scalar(const Value& value) {
    if (const auto* b = value.get_if<bool>()) {
        out_.add(*b ? "true" : "false");
    } else if (value.is<None>()) {
        out_.add("null");
    } else if (const auto* i = value.get_if<int64_t>()) {
        out_.add(fmt::format_int(*i).c_str());
    } else if (const auto* big = value.get_if<BigPtr>()) {
        KVIK_TRY(const std::string digits, whole_repr(heap_, **big));
        out_.add(digits);
    } else if (const auto* d = value.get_if<double>()) {
        const char* special = *d < 0 ? "-Infinity" : "Infinity";
        out_.add(std::isfinite(*d) ? float_repr(*d) : std::isnan(*d) ? "NaN" : special);
    } else {
        if (const auto* undefined = value.get_if<Undefined>()) return undefined_error(*undefined);
        return type_error(fmt::format("{} cannot be written as JSON", value.type_name()));
    }
    return {};
}

Result<void> Writer::key(const Value& name) {
    if (const Str* s = name.str()) {
        string(s->marked);
        return {};
    }
    out_.add("\"");
    KVIK_TRY_VOID(scalar(name));
    out_.add("\"");
    return {};
}

Result<void> Writer::enter() {
    if (++depth_ > heap_.budget().limits().depth) {
        return type_error(fmt::format("values nested deeper than {} cannot be written as JSON",
                                      heap_.budget().limits().depth));
    }
    return {};
}

void Writer::new_line() {
    if (!style_.indent) return;
    out_.add("\n");
    for (uint32_t i = 0; i < depth_; ++i) out_.add(*style_.indent);
}

Result<void> Writer::items(const List& list) {
    if (list.items.empty()) {
        out_.add("[]");
        return {};
    }
    KVIK_TRY_VOID(enter());
    out_.add("[");
    for (size_t i = 0; i < list.items.size(); ++i) {
        if (i > 0) out_.add(style_.item_separator);
        new_line();
        KVIK_TRY_VOID(any(list.items[i]));
    }
    --depth_;
    new_line();
    out_.add("]");
    return {};
}

Result<std::vector<const Dict::Entry*>> Writer::ordered(const Dict& dict) {
    std::vector<const Dict::Entry*> entries;
    for (const Dict::Entry& entry : dict.entries()) entries.push_back(&entry);
    if (style_.keys == JsonStyle::Keys::in_order) return entries;
    std::optional<Error> failure;
    std::stable_sort(entries.begin(), entries.end(), [&](const auto* a, const auto* b) {
        if (failure) return false;
        const auto ordering = order(heap_, a->key, b->key);
        if (!ordering) failure = ordering.error();
        return ordering && *ordering < 0;
    });
    if (failure) return tl::unexpected<Error>(*failure);
    return entries;
}

Result<void> Writer::entries(const Dict& dict) {
    if (dict.entries().empty()) {
        out_.add("{}");
        return {};
    }
    KVIK_TRY_VOID(enter());
    out_.add("{");
    KVIK_TRY(const auto sorted, ordered(dict));
    for (size_t i = 0; i < sorted.size(); ++i) {
        if (i > 0) out_.add(style_.item_separator);
        new_line();
        KVIK_TRY_VOID(key(sorted[i]->key));
        out_.add(style_.key_separator);
        KVIK_TRY_VOID(any(sorted[i]->value));
    }
    --depth_;
    new_line();
    out_.add("}");
    return {};
}

Result<void> Writer::any(const Value& value) {
    KVIK_TRY_VOID(heap_.budget().steps());
    if (const Str* s = value.str()) {
        string(s->marked);
        return {};
    }
    if (const List* list = value.list()) return items(*list);
    if (const Dict* dict = value.dict()) return entries(*dict);
    return scalar(value);
}

}  // namespace

Result<void> write_json(Heap& heap, TextBuilder& out, const Value& value, const JsonStyle& style) {
    return Writer(heap, out, style).any(value);
}

}  // namespace kvik::jinja
