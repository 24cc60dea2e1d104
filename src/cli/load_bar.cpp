#include "cli/load_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/terminal.h"

namespace kvik::cli {

std::string load_line(const LoadState& state) {
    constexpr uint64_t kWidth = 24;
    const double share = state.total_bytes == 0 ? 1
                                                : static_cast<double>(state.done_bytes) /
                                                      static_cast<double>(state.total_bytes);
    const auto n_full = static_cast<size_t>(share * kWidth);
    const double mib = static_cast<double>(state.done_bytes) / (1 << 20);
    return fmt::format("loading [{:<{}}] {:3.0f} %  {:.0f} MiB/s", std::string(n_full, '='), kWidth,
                       share * 100, state.seconds > 0 ? mib / state.seconds : 0.0);
}

LoadBar::LoadBar() : shown_(may_decorate(STDERR_FILENO)) {}

LoadBar::~LoadBar() {
    clear();
}

void LoadBar::clear() {
    if (drawn_) note("\r\x1b[K");
    drawn_ = false;
}

void LoadBar::update(uint64_t done_bytes, uint64_t total_bytes) {
    const auto now = Clock::now();
    if (!shown_ || now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    drawn_ = true;
    const std::chrono::duration<double> passed = now - start_;
    note("\r" + load_line({done_bytes, total_bytes, passed.count()}) + "\x1b[K");
}

}  // namespace kvik::cli
