// Iteration, length, subscripts and slices over whatever has items.
//
// Cost      an item a step; the character of a string that is not ASCII is found by walking.
// Errors    what Python's TypeError would say; a missing item is an undefined value, not an error.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "text/jinja/heap.h"

namespace kvik::jinja {

// The items of a list, the characters of a string, the keys of a dict.
Result<std::vector<Value>> items_of(Heap& heap, const Value& value);
Result<int64_t> length_of(const Value& value);
Result<Value> list_of(Heap& heap, std::vector<Value> items, List::Form form = List::Form::list);
Result<Value> pair_of(Heap& heap, Value first, Value second);  // a tuple

// container[key]; undefined when there is none.
Result<Value> item_of(Heap& heap, const Value& container, const Value& key);

struct SliceBounds {
    std::optional<int64_t> start, stop, step;
};
Result<Value> slice_of(Heap& heap, const Value& container, const SliceBounds& bounds);

}  // namespace kvik::jinja
