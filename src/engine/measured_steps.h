// MeasuredSteps: what was measured of a table of step costs so far, and the table it makes.
//
// Shape   a cell for each point of StepCosts; a cell that was not measured has none.
// Invariant complete() is lawful (sched/step_costs.h) whatever was measured. Other programs only
//         ever add to a time, so of two times that fall with more rows or depth the larger is the
//         wrong one, and is cut. What is missing is filled in: between two points linearly, beyond
//         the last as between the last two, with one alone half in proportion (rather dear), and for
//         a depth of which nothing is known in proportion to the one before.
#pragma once

#include <array>
#include <optional>

#include "sched/step_costs.h"

namespace kvik {

class MeasuredSteps {
  public:
    // Indices into StepCosts::kTokens, kDepths, kChunks; kChunks[0] is a step of one row.
    void set_step(size_t row, size_t depth, double ms) { step_ms_[depth][row] = ms; }
    void set_chunk(size_t chunk, double ms) { chunk_ms_[chunk] = ms; }
    std::optional<double> step(size_t row, size_t depth) const { return step_ms_[depth][row]; }

    // One row at depth 0 must have been measured.
    StepCosts complete() const;

  private:
    using Cells = std::array<std::optional<double>, StepCosts::kTokens.size()>;
    void cut_noise();

    std::array<Cells, StepCosts::kDepths.size()> step_ms_;
    std::array<std::optional<double>, StepCosts::kChunks.size()> chunk_ms_;
};

}  // namespace kvik
