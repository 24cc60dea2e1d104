#include "cli/load_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/terminal.h"

namespace kvik::cli {

std::string load_line(const LoadState& state, uint32_t n_columns) {
    constexpr uint32_t kWidest = 24, kRest = 34;  // columns of the bar, of all around it
    const size_t width = std::min(kWidest, std::max(n_columns, kRest) - kRest);
    const double share = state.total_bytes == 0 ? 1
                                                : static_cast<double>(state.done_bytes) /
                                                      static_cast<double>(state.total_bytes);
    const auto n_full = static_cast<size_t>(share * static_cast<double>(width));
    const double mib = static_cast<double>(state.done_bytes) / (1 << 20);
    const double speed = state.seconds > 0 ? mib / state.seconds : 0.0;
    const std::string bar =
        width > 0 ? fmt::format("[{:<{}}] ", std::string(n_full, '='), width) : "";
    return cut_to_columns(fmt::format("loading {}{:3.0f} %  {:.0f} MiB/s", bar, share * 100, speed),
                          n_columns);
}

void LoadBar::update(uint64_t done_bytes, uint64_t total_bytes) {
    const auto now = Clock::now();
    if (!line_.is_shown() || now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    const std::chrono::duration<double> passed = now - start_;
    line_.draw(load_line({done_bytes, total_bytes, passed.count()}, columns_of(STDERR_FILENO) - 1));
}

}  // namespace kvik::cli
