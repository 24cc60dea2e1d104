// Value -> JSON text as Python's json.dumps(ensure_ascii=False) writes it: keys in their order,
// no HTML escaping, every byte that comes from a string keeping its mark.
//
// Errors    an undefined value or a function; nesting past the limit.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "text/jinja/heap.h"

namespace kvik::jinja {

struct JsonStyle {
    std::optional<MarkedText> indent;  // one level's; none: all on one line
    MarkedText item_separator;
    MarkedText key_separator;
    enum class Characters : uint8_t { kept, ascii } characters = Characters::kept;
    enum class Keys : uint8_t { in_order, sorted } keys = Keys::in_order;
};

Result<void> write_json(Heap& heap, TextBuilder& out, const Value& value, const JsonStyle& style);

}  // namespace kvik::jinja
