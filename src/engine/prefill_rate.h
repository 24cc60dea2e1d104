// PrefillRate: what a token of a prompt costs at a depth, learnt from the steps that ran, so that the
// cache knows what it saves and what it throws away.
//
// Shape   ms of n rows from position d on: n * (base + slope * mean position), fitted by least squares;
//         a step counts less the more have come after it.
// Threads the engine thread.   Cost  O(1) a step and a question.
// Invariant never negative, and never less at a greater depth. Before the first step that was
//         measured it is 0: nothing is known. It decides what is kept, never what comes out.
#pragma once

#include <cstdint>

namespace kvik {

class PrefillRate {
  public:
    // A step of n rows of one prompt, the first of them at position `depth`, and nothing else.
    void note(uint32_t n_tokens, uint32_t depth, double ms);

    double ms(uint32_t n_tokens, uint32_t depth) const;

  private:
    void fit();

    double weight_ = 0, x_ = 0, xx_ = 0, y_ = 0, xy_ = 0;  // sums over the steps, fading
    double base_ms_ = 0, slope_ms_ = 0;                    // of a row
};

}  // namespace kvik
