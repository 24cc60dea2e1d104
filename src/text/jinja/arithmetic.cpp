#include "text/jinja/arithmetic.h"

#include <fmt/format.h>

#include <cmath>

#include "text/jinja/format.h"
#include "text/jinja/sequence.h"

namespace kvik::jinja {
namespace {

const char* spelling(Operator op) {
    constexpr const char* kNames[] = {"+", "-", "*", "/", "//", "%", "**"};
    return kNames[static_cast<size_t>(op)];
}

tl::unexpected<Error> too_large(Operator op) {
    return type_error(fmt::format("the result of {} does not fit 64 bits", spelling(op)));
}

Result<Value> int_power(int64_t base, int64_t exponent) {
    if (exponent < 0) {
        if (base == 0) return type_error("division by zero");
        return Value(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
    }
    int64_t result = 1;
    for (int64_t square = base; exponent > 0; exponent >>= 1) {
        if ((exponent & 1) && __builtin_mul_overflow(result, square, &result)) {
            return too_large(Operator::power);
        }
        if (exponent > 1 && __builtin_mul_overflow(square, square, &square)) {
            return too_large(Operator::power);
        }
    }
    return Value(result);
}

// Rounds down, so that the remainder has the divisor's sign.
Result<Value> int_floor(Operator op, int64_t a, int64_t b) {
    if (b == 0) return type_error("division by zero");
    if (b == -1) {  // the one quotient that overflows
        if (op == Operator::modulo) return Value(int64_t{0});
        int64_t negative = 0;
        if (__builtin_sub_overflow(int64_t{0}, a, &negative)) return too_large(op);
        return Value(negative);
    }
    const bool down = a % b != 0 && (a % b < 0) != (b < 0);
    return Value(op == Operator::modulo ? a % b + (down ? b : 0) : a / b - (down ? 1 : 0));
}

Result<Value> int_apply(Operator op, int64_t a, int64_t b) {
    int64_t result = 0;
    switch (op) {
        case Operator::add:
            if (__builtin_add_overflow(a, b, &result)) return too_large(op);
            return Value(result);
        case Operator::subtract:
            if (__builtin_sub_overflow(a, b, &result)) return too_large(op);
            return Value(result);
        case Operator::multiply:
            if (__builtin_mul_overflow(a, b, &result)) return too_large(op);
            return Value(result);
        case Operator::power:
            return int_power(a, b);
        case Operator::divide:
            if (b == 0) return type_error("division by zero");
            return Value(static_cast<double>(a) / static_cast<double>(b));
        case Operator::floor_divide:
        case Operator::modulo:
            return int_floor(op, a, b);
    }
    return Value();
}

Result<Value> float_floor(Operator op, double a, double b) {
    if (b == 0) return type_error("division by zero");
    // As Python rounds it: the remainder before it takes the divisor's sign goes into the quotient.
    double remainder = std::fmod(a, b);
    double quotient = (a - remainder) / b;
    if (remainder != 0 && (remainder < 0) != (b < 0)) {
        remainder += b;
        quotient -= 1;
    } else if (remainder == 0) {
        remainder = std::copysign(0.0, b);
    }
    if (op == Operator::modulo) return Value(remainder);
    if (quotient == 0) return Value(std::copysign(0.0, a / b));
    const double down = std::floor(quotient);
    return Value(quotient - down > 0.5 ? down + 1 : down);
}

Result<Value> float_apply(Operator op, double a, double b) {
    switch (op) {
        case Operator::add:
            return Value(a + b);
        case Operator::subtract:
            return Value(a - b);
        case Operator::multiply:
            return Value(a * b);
        case Operator::divide:
            if (b == 0) return type_error("division by zero");
            return Value(a / b);
        case Operator::power:
            if (a == 0 && b < 0) return type_error("division by zero");
            if (a < 0 && b != std::floor(b)) return type_error("the power is a complex number");
            return Value(std::pow(a, b));
        case Operator::floor_divide:
        case Operator::modulo:
            return float_floor(op, a, b);
    }
    return Value();
}

Result<Value> joined(Heap& heap, const Str& a, const Str& b) {
    TextBuilder out(heap.budget());
    out.add(a.marked);
    out.add(b.marked);
    return heap.string(out);
}

Result<Value> joined(Heap& heap, const List& a, const List& b) {
    std::vector<Value> items = a.items;
    items.insert(items.end(), b.items.begin(), b.items.end());
    return list_of(heap, std::move(items), a.form);
}

// `sequence` is a string or a list.
Result<Value> repeated(Heap& heap, const Value& sequence, int64_t times) {
    if (const Str* s = sequence.str()) {
        TextBuilder out(heap.budget());
        if (s->view().empty()) times = 0;
        for (int64_t i = 0; i < times && !out.full(); ++i) out.add(s->marked);
        return heap.string(out);
    }
    const List* list = sequence.list();
    std::vector<Value> items;
    if (list->items.empty()) times = 0;
    for (int64_t i = 0; i < times; ++i) {
        KVIK_TRY_VOID(heap.budget().steps(list->items.size()));
        items.insert(items.end(), list->items.begin(), list->items.end());
    }
    return list_of(heap, std::move(items), list->form);
}

}  // namespace

Result<Value> apply(Heap& heap, Operator op, const Value& a, const Value& b) {
    if (const auto i = a.integer(), j = b.integer(); i && j) return int_apply(op, *i, *j);
    if (const auto x = a.number(), y = b.number(); x && y) return float_apply(op, *x, *y);
    if (op == Operator::modulo && a.str()) return percent_format(heap, *a.str(), b);
    for (const Value* v : {&a, &b}) {
        if (const auto* undefined = v->get_if<Undefined>()) return undefined_error(*undefined);
    }
    if (op == Operator::add) {
        if (const Str* s = a.str(), *t = b.str(); s && t) return joined(heap, *s, *t);
        if (const List* l = a.list(), *m = b.list(); l && m && l->form == m->form) {
            return joined(heap, *l, *m);
        }
    }
    if (op == Operator::multiply) {
        const auto times_a = a.integer(), times_b = b.integer();
        if ((a.str() || a.list()) && times_b) return repeated(heap, a, *times_b);
        if ((b.str() || b.list()) && times_a) return repeated(heap, b, *times_a);
    }
    return type_error(fmt::format("{} does not go between {} and {}", spelling(op), a.type_name(),
                                  b.type_name()));
}

Result<Value> negated(const Value& value) {
    if (const auto i = value.integer()) return int_apply(Operator::subtract, 0, *i);
    if (const auto* d = value.get_if<double>()) return Value(-*d);
    if (const auto* undefined = value.get_if<Undefined>()) return undefined_error(*undefined);
    return type_error(fmt::format("{} has no negative", value.type_name()));
}

}  // namespace kvik::jinja
