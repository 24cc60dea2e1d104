// Is a string well-formed UTF-8? Overlong forms, surrogates and values past U+10FFFF are not.
// Source: The Unicode Standard, table 3-7.
#pragma once

#include <string_view>

namespace kvik {

bool is_utf8(std::string_view text) noexcept;

}  // namespace kvik
