// JSON text -> Value, every string keeping the marks of the text it was read from.
//
// Cost      linear; a value is a step of the budget.
// Errors    what is not JSON (RFC 8259), named with its byte; nesting past the limit. An integer
//           past 4300 digits. Half of a surrogate pair becomes U+FFFD.
#pragma once

#include <string>

#include "base/result.h"
#include "text/jinja/heap.h"

namespace kvik::jinja {

Result<Value> read_json(Heap& heap, const MarkedText& json);

}  // namespace kvik::jinja
