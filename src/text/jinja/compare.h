// Equality, order and membership, as Python has them.
//
// Cost      charged to the budget: an element a step, strings by their bytes.
// Errors    order between unlike types; values nested deeper than the limit.
#pragma once

#include <compare>

#include "base/result.h"
#include "text/jinja/heap.h"

namespace kvik::jinja {

Result<bool> equal(Heap& heap, const Value& a, const Value& b);
// Not a number is unordered with everything.
Result<std::partial_ordering> order(Heap& heap, const Value& a, const Value& b);
Result<bool> contains(Heap& heap, const Value& container, const Value& item);

}  // namespace kvik::jinja
