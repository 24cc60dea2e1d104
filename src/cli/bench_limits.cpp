#include "cli/bench_limits.h"

namespace kvik::cli {

Limit limit_of(const Work& work, const Ceilings& ceilings) {
    const double read_ms = 1000 * work.read_bytes / ceilings.read_bytes_per_s.all;
    const double int8_ms = 1000 * work.int8_ops / ceilings.int8_ops_per_s.all;
    const double f32_ms = 1000 * work.f32_ops / ceilings.f32_ops_per_s.all;
    if (read_ms >= int8_ms + f32_ms) return {read_ms, "read"};
    return {int8_ms + f32_ms, int8_ms >= f32_ms ? "int8" : "f32"};
}

}  // namespace kvik::cli
