// WriteBreaker: a disk that refuses is asked less and less often, and as before once it obliges.
//
// Shape   after the n-th failure in a row the next 2^n saves (at most 1024) are not tried. Counts,
//         no clock: what happens is a function of what was asked.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kvik {

class WriteBreaker {
  public:
    static constexpr uint32_t kMostPassed = 1024;

    bool lets_through() {
        if (n_to_pass_ == 0) return true;
        --n_to_pass_;
        return false;
    }
    void note_failure() {
        pause_ = std::min(2 * pause_, kMostPassed);
        n_to_pass_ = pause_;
    }
    void note_success() { pause_ = 1; }

  private:
    uint32_t pause_ = 1;
    uint32_t n_to_pass_ = 0;
};

}  // namespace kvik
