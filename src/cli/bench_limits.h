// The roofline: the shortest time that a machine's measured ceilings leave to a piece of work.
//
// Reading and multiplying can go on at once, so the longer of the two binds; int8 and f32 products
// wait for the same units, so their times add up.
// Source  Williams, Waterman, Patterson 2009, "Roofline", CACM 52(4).
#pragma once

#include <string_view>

#include "cli/bench_work.h"
#include "cli/doctor_measure.h"

namespace kvik::cli {

struct Limit {
    double ms = 0;
    std::string_view name;  // of the ceiling that binds: "read", "int8" or "f32"
};

Limit limit_of(const Work& work, const Ceilings& ceilings);

}  // namespace kvik::cli
