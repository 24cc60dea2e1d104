#include "cli/repl/wait_note.h"

#include <fmt/format.h>

namespace kvik::cli {

void WaitNote::tick() {
    const auto now = Clock::now();
    if (!line_.is_shown() || is_over_ || now < next_) return;
    next_ = now + std::chrono::seconds(1);
    const auto passed = std::chrono::duration_cast<std::chrono::seconds>(now - start_);
    line_.draw(fmt::format("reading the prompt, {} s", passed.count()));
}

void WaitNote::clear() {
    line_.clear();
    is_over_ = true;
}

}  // namespace kvik::cli
