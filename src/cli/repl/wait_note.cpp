#include "cli/repl/wait_note.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/terminal.h"

namespace kvik::cli {

WaitNote::WaitNote() : shown_(may_decorate(STDERR_FILENO)) {}

void WaitNote::tick() {
    const auto now = Clock::now();
    if (!shown_ || now < next_) return;
    next_ = now + std::chrono::seconds(1);
    drawn_ = true;
    const auto passed = std::chrono::duration_cast<std::chrono::seconds>(now - start_);
    note("\r" + dim(fmt::format("reading the prompt, {} s", passed.count())) + "\x1b[K");
}

void WaitNote::clear() {
    if (drawn_) note("\r\x1b[K");
    drawn_ = false;
    shown_ = false;
}

}  // namespace kvik::cli
