// PrefillRate: what a token of a prompt costs at a depth, learnt from the steps that ran. The cache
// uses it to say what a hit saves and to rank what it evicts.
//
// Shape   the time of n tokens from position d on is n * (base + slope * mean position). Base and
//         slope are fitted by weighted least squares; later steps weigh more than earlier ones.
// Owner   a few sums.
// Threads the engine thread.
// Cost    O(1) per step and per look-up.
// Invariant never negative, and never less at a greater depth. Before the first step was timed it is
//         0. It decides what is kept, never what is computed.
#pragma once

#include <cstdint>

namespace kvik {

class PrefillRate {
  public:
    // Records the time of a step that computed n tokens of one prompt, the first of them at position
    // `depth`, and nothing else.
    void note(uint32_t n_tokens, uint32_t depth, double ms);

    double ms(uint32_t n_tokens, uint32_t depth) const;

  private:
    void fit();

    double weight_ = 0, x_ = 0, xx_ = 0, y_ = 0, xy_ = 0;  // sums over the steps, fading
    double base_ms_ = 0, slope_ms_ = 0;                    // of a row
};

}  // namespace kvik
