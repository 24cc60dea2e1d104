// PromptNote: on a terminal, how far a long prompt has been read and how long the rest will take;
// nothing anywhere else.
//
// Cost    drawn once a second, from half a second on.
// Invariant when it is destroyed the line is clean again.
#pragma once

#include <chrono>
#include <string>

#include "cli/progress_line.h"
#include "kvik/kvik.h"

namespace kvik::cli {

// The rest is expected to go as fast as what has been computed since the start.
struct PromptClock {
    double now_s = 0;   // since the start
    double done_s = 0;  // when the progress was last another
};
// "reading the prompt, 3 s: 1024 of 4096 tokens, about 9 s left", or as much of it as fits.
std::string prompt_line(const PromptProgress& progress, const PromptClock& clock,
                        uint32_t n_columns = UINT32_MAX);

class PromptNote {
  public:
    void tick(const PromptProgress& progress);  // as often as one likes
    void clear();                               // before anything else is written

  private:
    using Clock = std::chrono::steady_clock;
    ProgressLine line_;
    bool is_over_ = false;
    uint32_t n_done_ = 0;
    Clock::time_point start_ = Clock::now();
    Clock::time_point done_ = start_;
    Clock::time_point next_ = start_ + std::chrono::milliseconds(500);
};

}  // namespace kvik::cli
