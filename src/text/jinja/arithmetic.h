// Operators on values: Python's + - * / // % **, for numbers, strings and lists.
//
// Errors    an integer of more than 65536 bits (Python's has no limit); a division by zero; unlike
//           types.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "text/jinja/heap.h"

namespace kvik::jinja {

enum class Operator : uint8_t { add, subtract, multiply, divide, floor_divide, modulo, power };

Result<Value> apply(Heap& heap, Operator op, const Value& a, const Value& b);
Result<Value> negated(const Value& value);

}  // namespace kvik::jinja
