// The interpreter: a Program and its variables -> marked text.
//
// Threads   a Program may be rendered by many threads at once, each with its own Heap.
// Cost      bounded by the heap's budget.
// Errors    line and column first; ErrorKind::usage when the template itself raised it, with its
//           text kept, else ErrorKind::failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/jinja/ast.h"
#include "text/jinja/heap.h"

namespace kvik::jinja {

struct RenderInputs {
    std::vector<std::pair<std::string, Value>> variables;  // made on the same heap
    std::optional<int64_t> now;  // seconds on the wall clock; without it no strftime_now
};

Result<MarkedText> render(const Program& program, Heap& heap, const RenderInputs& inputs);

}  // namespace kvik::jinja
