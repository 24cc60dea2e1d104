// The text of plots.py, in the program, so that it needs no folder of its own (CMakeLists.txt).
#pragma once

#include <string_view>

namespace kvik::lab {

extern const std::string_view kPlotsSource;

}  // namespace kvik::lab
