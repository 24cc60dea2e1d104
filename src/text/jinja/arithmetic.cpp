#include "text/jinja/arithmetic.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "text/jinja/format.h"
#include "text/jinja/sequence.h"
#include "text/jinja/text_ops.h"

namespace kvik::jinja {
namespace {

const char* spelling(Operator op) {
    constexpr const char* kNames[] = {"+", "-", "*", "/", "//", "%", "**"};
    return kNames[static_cast<size_t>(op)];
}

// Past this nothing of use is computed, and no digits are written (print.h).
constexpr size_t kMostBits = 1 << 16;

// What an operation on so many limbs costs, as nodes.
Result<void> charge(Heap& heap, Operator op, const BigInt& a, const BigInt& b, size_t n_bits) {
    if (n_bits > kMostBits) {
        return type_error(
            fmt::format("the result of {} has more than {} bits", spelling(op), kMostBits));
    }
    const size_t n = a.n_limbs() + b.n_limbs();
    const bool linear = op == Operator::add || op == Operator::subtract;
    return heap.budget().steps(1 + (linear ? n : a.n_limbs() * b.n_limbs()) / 64);
}

Result<Value> whole_power(Heap& heap, const BigInt& base, const BigInt& exponent) {
    if (exponent.is_negative()) {
        if (base.is_zero()) return type_error("division by zero");
        const auto x = base.real();
        const auto y = exponent.real();
        if (!x || !y) return type_error("a number is too large for a float");
        return Value(std::pow(*x, *y));
    }
    const auto times = exponent.small();
    const bool stays = base.n_bits() <= 1 && (base.is_zero() || times);  // 0, 1 and -1
    if (!times && !stays)
        return charge(heap, Operator::power, base, base, SIZE_MAX).map([] { return Value(); });
    BigInt result(1);
    BigInt square = base;
    for (int64_t left = times.value_or(1); left > 0; left >>= 1) {
        if (left & 1) {
            KVIK_TRY_VOID(
                charge(heap, Operator::power, result, square, result.n_bits() + square.n_bits()));
            result = result * square;
        }
        if (left > 1) {
            KVIK_TRY_VOID(charge(heap, Operator::power, square, square, 2 * square.n_bits()));
            square = square * square;
        }
    }
    return big_or_small(std::move(result));
}

Result<Value> whole_apply(Heap& heap, Operator op, const BigInt& a, const BigInt& b) {
    if (op == Operator::power) return whole_power(heap, a, b);
    const bool product = op == Operator::multiply;
    KVIK_TRY_VOID(charge(heap, op, a, b, product ? a.n_bits() + b.n_bits() : 0));
    switch (op) {
        case Operator::add:
            return big_or_small(a + b);
        case Operator::subtract:
            return big_or_small(a - b);
        case Operator::multiply:
            return big_or_small(a * b);
        default:
            break;
    }
    if (b.is_zero()) return type_error("division by zero");
    if (op == Operator::divide) {
        const auto ratio = BigInt::ratio(a, b);
        if (!ratio) return type_error("the result of / is too large for a float");
        return Value(*ratio);
    }
    BigInt::Division both = BigInt::divide(a, b);
    return big_or_small(std::move(op == Operator::modulo ? both.remainder : both.quotient));
}

// Nothing where the result does not fit 64 bits, or is one of the other operators'.
std::optional<int64_t> small_apply(Operator op, int64_t a, int64_t b) {
    int64_t result = 0;
    switch (op) {
        case Operator::add:
            if (!__builtin_add_overflow(a, b, &result)) return result;
            break;
        case Operator::subtract:
            if (!__builtin_sub_overflow(a, b, &result)) return result;
            break;
        case Operator::multiply:
            if (!__builtin_mul_overflow(a, b, &result)) return result;
            break;
        case Operator::floor_divide:
        case Operator::modulo:
            if (b > 0) {  // rounds down, so that the remainder has the divisor's sign
                const bool down = a % b < 0;
                return op == Operator::modulo ? a % b + (down ? b : 0) : a / b - (down ? 1 : 0);
            }
            break;
        default:
            break;
    }
    return std::nullopt;
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

// A markup escapes what it is joined to.
Result<Value> joined(Heap& heap, const StrPtr& a, const StrPtr& b) {
    const bool markup = a->is_markup || b->is_markup;
    StrPtr first = a, second = b;
    if (markup) {
        KVIK_TRY(first, escaped(heap, a));
        KVIK_TRY(second, escaped(heap, b));
    }
    TextBuilder out(heap.budget());
    out.add(first->marked);
    out.add(second->marked);
    return markup_as(*first, heap.string(out));
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
        return markup_as(*s, heap.string(out));
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
    if (const auto i = a.integer(), j = b.integer(); i && j) {
        if (const auto small = small_apply(op, *i, *j)) return Value(*small);
    }
    if (a.is_whole() && b.is_whole()) return whole_apply(heap, op, *a.whole(), *b.whole());
    if (const auto x = a.number(), y = b.number(); x && y) {
        for (const Value* v : {&a, &b}) {
            if (v->is<BigPtr>() && std::isinf(*v->number()))
                return type_error("a number is too large for a float");
        }
        return float_apply(op, *x, *y);
    }
    if (op == Operator::modulo && a.str()) return percent_format(heap, *a.str(), b);
    for (const Value* v : {&a, &b}) {
        if (const auto* undefined = v->get_if<Undefined>()) return undefined_error(*undefined);
    }
    if (op == Operator::add) {
        if (const auto* s = a.get_if<StrPtr>(), *t = b.get_if<StrPtr>(); s && t)
            return joined(heap, *s, *t);
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
    if (const auto whole = value.whole()) return big_or_small(whole->negated());
    if (const auto* d = value.get_if<double>()) return Value(-*d);
    if (const auto* undefined = value.get_if<Undefined>()) return undefined_error(*undefined);
    return type_error(fmt::format("{} has no negative", value.type_name()));
}

}  // namespace kvik::jinja
