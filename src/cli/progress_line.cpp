#include "cli/progress_line.h"

#include <unistd.h>

#include "cli/terminal.h"

namespace kvik::cli {

ProgressLine::ProgressLine() : shown_(may_decorate(STDERR_FILENO)) {}

void ProgressLine::draw(const std::string& text) {
    if (!shown_) return;
    drawn_ = true;
    steer("\r");
    note_dim(cut_to_columns(text, columns_of(STDERR_FILENO) - 1));
    steer("\x1b[K");
}

void ProgressLine::clear() {
    if (drawn_) steer("\r\x1b[K");
    drawn_ = false;
}

}  // namespace kvik::cli
