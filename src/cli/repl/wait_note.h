// WaitNote: a sign of life on a terminal while a long prompt is computed; nothing anywhere else.
//
// Cost    drawn once a second, from half a second on.
// Invariant when it is destroyed the line is clean again.
#pragma once

#include <chrono>

#include "cli/progress_line.h"

namespace kvik::cli {

class WaitNote {
  public:
    void tick();   // as often as one likes
    void clear();  // before anything else is written

  private:
    using Clock = std::chrono::steady_clock;
    ProgressLine line_;
    bool is_over_ = false;
    Clock::time_point start_ = Clock::now();
    Clock::time_point next_ = start_ + std::chrono::milliseconds(500);
};

}  // namespace kvik::cli
