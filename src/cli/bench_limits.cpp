#include "cli/bench_limits.h"

namespace kvik::cli {
namespace {

double ms_of(double work, double per_second) {
    return 1000 * work / per_second;
}

}  // namespace

BenchLimits::BenchLimits(const ModelNeeds& needs, const Ceilings& ceilings, Act act) {
    step_ms_ = ms_of(static_cast<double>(needs.step_bytes), ceilings.read_bytes_per_s.all);
    const bool is_int8 = act == Act::int8 && needs.quantised_macs > 0;
    const double quantised = 2.0 * static_cast<double>(needs.quantised_macs);
    const double floats = 2.0 * static_cast<double>(needs.float_macs);
    token_ms_ =
        ms_of(quantised, is_int8 ? ceilings.int8_ops_per_s.all : ceilings.f32_ops_per_s.all) +
        ms_of(floats, ceilings.f32_ops_per_s.all);
    compute_ = is_int8 ? "int8" : "f32";
}

Limit BenchLimits::of_steps(uint32_t n_steps) const {
    return {step_ms_ * n_steps, "read"};
}

Limit BenchLimits::of_prompt(uint32_t n_tokens) const {
    return {token_ms_ * n_tokens, compute_};
}

}  // namespace kvik::cli
