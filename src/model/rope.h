// Rotary position embedding: angles in exact double arithmetic, stored as f32 (R6 of SPEC.md).
//
// Shape   a table row holds n_dims / 2 cosines, then as many sines, for one position.
// Source  Su et al. 2021, arXiv 2104.09864, section 3.2.2.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/table.h"
#include "model/config.h"

namespace kvik {

class Rope {
  public:
    explicit Rope(const RopeConfig& config);

    uint32_t row_floats() const { return config_.n_dims; }
    void fill_row(uint32_t position, float* row) const;
    // Turns the first n_dims of one head in place.
    void apply(const KernelTable& kernels, const float* row, float* head) const;

  private:
    RopeConfig config_;
    std::vector<double> frequencies_;  // [n_dims / 2]
};

}  // namespace kvik
