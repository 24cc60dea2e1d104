// LoadBar: how far loading has come, on a terminal; nothing anywhere else.
//
// Threads the one that loads.   Cost  drawn at most ten times a second.
// Invariant when it is destroyed the line is clean again.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/progress_line.h"

namespace kvik::cli {

struct LoadState {
    uint64_t done_bytes = 0;
    uint64_t total_bytes = 0;
    double seconds = 0;
};

// One line of at most n_columns.
std::string load_line(const LoadState& state, uint32_t n_columns = 80);

class LoadBar {
  public:
    void update(uint64_t done_bytes, uint64_t total_bytes);
    void clear() { line_.clear(); }

  private:
    using Clock = std::chrono::steady_clock;
    ProgressLine line_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point next_ = start_ + std::chrono::milliseconds(150);
};

}  // namespace kvik::cli
