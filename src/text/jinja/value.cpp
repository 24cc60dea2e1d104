#include "text/jinja/value.h"

#include <limits>

#include "text/jinja/containers.h"
#include "text/jinja/unicode.h"

namespace kvik::jinja {

StrPtr make_str(MarkedText text) {
    const size_t n = n_chars(text.text);
    return std::make_shared<const Str>(Str{std::move(text), n, false});
}

StrPtr make_str(std::string_view trusted) {
    return make_str(MarkedText{std::string(trusted), {}});
}

StrPtr as_markup(const StrPtr& text) {
    if (text->is_markup) return text;
    return std::make_shared<const Str>(Str{text->marked, text->n_chars, true});
}

std::optional<int64_t> Value::integer() const {
    if (const auto* i = get_if<int64_t>()) return *i;
    if (const auto* b = get_if<bool>()) return *b ? 1 : 0;
    return std::nullopt;
}

std::optional<BigInt> Value::whole() const {
    if (const auto* big = get_if<BigPtr>()) return **big;
    if (const auto i = integer()) return BigInt(*i);
    return std::nullopt;
}

bool Value::is_whole() const {
    return is<int64_t>() || is<bool>() || is<BigPtr>();
}

std::optional<double> Value::number() const {
    if (const auto* big = get_if<BigPtr>()) {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        return (*big)->real().value_or((*big)->is_negative() ? -kInfinity : kInfinity);
    }
    if (const auto* d = get_if<double>()) return *d;
    if (const auto i = integer()) return static_cast<double>(*i);
    return std::nullopt;
}

bool Value::truthy() const {
    if (is<Undefined>() || is<None>()) return false;
    if (const auto n = number()) return *n != 0;
    if (const Str* s = str()) return !s->view().empty();
    if (const List* l = list()) return !l->items.empty();
    if (const Dict* d = dict()) return !d->entries().empty();
    return true;
}

const char* Value::type_name() const {
    if (const List* l = list()) return l->form == List::Form::tuple ? "tuple" : "list";
    constexpr const char* kNames[] = {"Undefined", "NoneType",  "bool", "int",
                                      "int",       "float",     "str",  "list",
                                      "dict",      "Namespace", "loop", "function"};
    return kNames[value_.index()];
}

Value big_or_small(BigInt value) {
    if (const auto small = value.small()) return *small;
    return std::make_shared<const BigInt>(std::move(value));
}

}  // namespace kvik::jinja
