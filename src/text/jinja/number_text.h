// Numbers in text: literals of the template language, and Python's int() and float() of a text
// (blanks around it, a sign, underscores between digits).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "text/jinja/big_int.h"

namespace kvik::jinja {

// The bytes of a literal at the start of `text`, which begins with a digit: 12, 1_000, 0x1f, 0b1,
// 0o7; and 1.5, 1e3 (0: there is no fraction and no exponent).
size_t scan_integer(std::string_view text);
size_t scan_real(std::string_view text);

// `base` 2 to 36; a prefix such as 0x is allowed where it fits the base. Nothing when it is no
// integer, or one of more than 4300 digits.
std::optional<BigInt> parse_int(std::string_view text, int base);
std::optional<double> parse_float(std::string_view text);

}  // namespace kvik::jinja
