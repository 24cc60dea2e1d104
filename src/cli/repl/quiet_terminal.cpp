#include "cli/repl/quiet_terminal.h"

#include <unistd.h>

namespace kvik::cli {

QuietTerminal::QuietTerminal() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0 || ::tcgetpgrp(STDIN_FILENO) != ::getpgrp())
        return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    changed_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &quiet) == 0;
}

void QuietTerminal::restore() noexcept {
    if (changed_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    changed_ = false;
}

}  // namespace kvik::cli
