// Python's str and repr: True, None, 1.0, 'text', [1, 2], {'a': 1}.
//
// Errors    values nested deeper than the limit (a list may contain itself).
#pragma once

#include <string>

#include "base/result.h"
#include "text/jinja/heap.h"

namespace kvik::jinja {

std::string float_repr(double number);  // the shortest digits that read back: 0.1, 1e+16
Result<std::string> whole_repr(Heap& heap, const BigInt& whole);       // at most 4300 digits
Result<void> print(Heap& heap, TextBuilder& out, const Value& value);  // str(value)
Result<void> print_repr(Heap& heap, TextBuilder& out, const Value& value);
Result<StrPtr> to_str(Heap& heap, const Value& value);  // a string is given back as it is

}  // namespace kvik::jinja
