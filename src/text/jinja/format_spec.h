// FormatSpec: how one value is laid out in a formatted text.
//
// Grammar   [[fill]align][sign][#][0][width][,][.precision][type], as Python's format() has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "text/jinja/heap.h"
#include "text/jinja/text_builder.h"

namespace kvik::jinja {

struct FormatSpec {
    std::string_view fill = " ";
    Mark mark = Mark::trusted;  // of the specification itself, which the fill is part of
    char align = 0;             // < > ^ =, or 0: as the type has it
    bool zeros = false;         // a 0 before the width, and neither fill nor alignment
    char sign = 0;              // + - or a blank, or 0: as -
    bool thousands = false;
    uint64_t width = 0;
    std::optional<int> precision;  // of an integer: digits at least
    char type = 0;
};

Result<FormatSpec> parse_format_spec(std::string_view text);
Result<void> format_value(Heap& heap, TextBuilder& out, const Value& value, const FormatSpec& spec);

// Digits at `at`, which moves past them; nothing when there is none, or more than the limit.
struct Number {
    std::optional<uint64_t> value;
    bool too_large = false;
};
Number read_number(std::string_view text, size_t& at);

}  // namespace kvik::jinja
