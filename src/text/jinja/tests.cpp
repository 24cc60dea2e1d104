// The tests behind `is`.
#include <fmt/format.h>

#include "text/jinja/arithmetic.h"
#include "text/jinja/builtin.h"
#include "text/jinja/compare.h"
#include "text/jinja/print.h"
#include "text/jinja/unicode.h"

namespace kvik::jinja {
namespace {

Result<Value> is_defined(const Args& args) {
    return Value(!args.self.is<Undefined>());
}

Result<Value> is_undefined(const Args& args) {
    return Value(args.self.is<Undefined>());
}

Result<Value> is_none(const Args& args) {
    return Value(args.self.is<None>());
}

Result<Value> is_string(const Args& args) {
    return Value(args.self.str() != nullptr);
}

Result<Value> is_escaped(const Args& args) {
    return Value(args.self.str() && args.self.str()->is_markup);
}

Result<Value> is_mapping(const Args& args) {
    return Value(args.self.dict() != nullptr);
}

// An undefined value has no items, which is not the same as not being a sequence.
Result<Value> is_sequence(const Args& args) {
    return Value(args.self.str() || args.self.list() || args.self.dict() ||
                 args.self.is<Undefined>());
}

Result<Value> is_boolean(const Args& args) {
    return Value(args.self.is<bool>());
}

Result<Value> is_number(const Args& args) {
    return Value(args.self.number().has_value());
}

Result<Value> is_integer(const Args& args) {
    return Value(args.self.is_whole() && !args.self.is<bool>());
}

Result<Value> is_float(const Args& args) {
    return Value(args.self.is<double>());
}

Result<Value> is_true(const Args& args) {
    return Value(args.self.is<bool>() && args.self.truthy());
}

Result<Value> is_false(const Args& args) {
    return Value(args.self.is<bool>() && !args.self.truthy());
}

Result<Value> is_callable(const Args& args) {
    return Value(args.self.is<Callable*>() || args.self.is<Undefined>());
}

// Whether no cased character but those of one case stands in the text, and at least one does.
Result<Value> all_cased(const Args& args, bool (*wanted)(char32_t)) {
    KVIK_TRY(const StrPtr text, to_str(args.heap, args.self));
    KVIK_TRY_VOID(args.heap.budget().bytes(text->view().size()));
    return Value(is_cased_as(text->view(), wanted));
}

Result<Value> is_lower_text(const Args& args) {
    return all_cased(args, is_lower);
}

Result<Value> is_upper_text(const Args& args) {
    return all_cased(args, is_upper);
}

Result<Value> divides(Heap& heap, const Value& value, const Value& by, int64_t remainder) {
    KVIK_TRY(const Value left, apply(heap, Operator::modulo, value, by));
    const auto number = left.number();
    return Value(number && *number == static_cast<double>(remainder));
}

Result<Value> is_odd(const Args& args) {
    return divides(args.heap, args.self, int64_t{2}, 1);
}

Result<Value> is_even(const Args& args) {
    return divides(args.heap, args.self, int64_t{2}, 0);
}

Result<Value> is_divisible(const Args& args) {
    return divides(args.heap, args.self, args.at(0), 0);
}

Result<Value> is_equal(const Args& args) {
    KVIK_TRY(const bool same, equal(args.heap, args.self, args.at(0)));
    return Value(same);
}

Result<Value> is_unequal(const Args& args) {
    KVIK_TRY(const bool same, equal(args.heap, args.self, args.at(0)));
    return Value(!same);
}

Result<Value> is_less(const Args& args) {
    KVIK_TRY(const auto ordering, order(args.heap, args.self, args.at(0)));
    return Value(ordering < 0);
}

Result<Value> is_less_or_equal(const Args& args) {
    KVIK_TRY(const auto ordering, order(args.heap, args.self, args.at(0)));
    return Value(ordering <= 0);
}

Result<Value> is_greater(const Args& args) {
    KVIK_TRY(const auto ordering, order(args.heap, args.self, args.at(0)));
    return Value(ordering > 0);
}

Result<Value> is_greater_or_equal(const Args& args) {
    KVIK_TRY(const auto ordering, order(args.heap, args.self, args.at(0)));
    return Value(ordering >= 0);
}

Result<Value> is_in(const Args& args) {
    KVIK_TRY(const bool found, contains(args.heap, args.at(0), args.self));
    return Value(found);
}

// The same object; for values without identity, the same type and value.
Result<Value> is_same(const Args& args) {
    const Value other = args.at(0);
    if (std::string_view(args.self.type_name()) != other.type_name()) return Value(false);
    if (args.self.is<Undefined>()) return Value(false);  // each is an object of its own
    if (args.self.list() || args.self.dict()) {
        return Value(args.self.list() == other.list() && args.self.dict() == other.dict());
    }
    return is_equal(args);
}

// A name looked up in a table: what cannot be a key is an error.
Result<Value> is_filter(const Args& args) {
    KVIK_TRY_VOID(key_of(args.heap.budget(), args.self));
    return Value(args.self.str() && find_filter(args.self.str()->view()));
}

Result<Value> is_test(const Args& args) {
    KVIK_TRY_VOID(key_of(args.heap.budget(), args.self));
    return Value(args.self.str() && find_test(args.self.str()->view()));
}

constexpr Builtin kRows[] = {
    {"!=", "other", is_unequal},
    {"<", "other", is_less},
    {"<=", "other", is_less_or_equal},
    {"==", "other", is_equal},
    {">", "other", is_greater},
    {">=", "other", is_greater_or_equal},
    {"boolean", "", is_boolean},
    {"callable", "", is_callable},
    {"defined", "", is_defined},
    {"divisibleby", "num", is_divisible},
    {"eq", "other", is_equal},
    {"equalto", "other", is_equal},
    {"escaped", "", is_escaped},
    {"even", "", is_even},
    {"false", "", is_false},
    {"filter", "", is_filter},
    {"float", "", is_float},
    {"ge", "other", is_greater_or_equal},
    {"greaterthan", "other", is_greater},
    {"gt", "other", is_greater},
    {"in", "seq", is_in},
    {"integer", "", is_integer},
    {"iterable", "", is_sequence},
    {"le", "other", is_less_or_equal},
    {"lessthan", "other", is_less},
    {"lower", "", is_lower_text},
    {"lt", "other", is_less},
    {"mapping", "", is_mapping},
    {"ne", "other", is_unequal},
    {"none", "", is_none},
    {"number", "", is_number},
    {"odd", "", is_odd},
    {"sameas", "other", is_same},
    {"sequence", "", is_sequence},
    {"string", "", is_string},
    {"test", "", is_test},
    {"true", "", is_true},
    {"undefined", "", is_undefined},
    {"upper", "", is_upper_text},
};

}  // namespace

std::span<const Builtin> tests() {
    return kRows;
}

}  // namespace kvik::jinja
