// BenchLimits: the shortest time that a machine's measured ceilings leave to a piece of work.
//
// A step must read the weights once, whatever its width: that is what decode waits for. A prompt
// must multiply every token with them: that is what prefill waits for. The head, which a prompt
// needs once, and attention, which grows with the depth, are left out: the share is a lower bound.
#pragma once

#include <cstdint>
#include <string_view>

#include "cli/doctor_measure.h"
#include "kernels/activations.h"
#include "model/check.h"

namespace kvik::cli {

struct Limit {
    double ms = 0;
    std::string_view name;  // of the ceiling: "read", "int8" or "f32"
};

class BenchLimits {
  public:
    BenchLimits(const ModelNeeds& needs, const Ceilings& ceilings, Act act);

    Limit of_steps(uint32_t n_steps) const;
    Limit of_prompt(uint32_t n_tokens) const;

  private:
    double step_ms_ = 0, token_ms_ = 0;
    std::string_view compute_;
};

}  // namespace kvik::cli
