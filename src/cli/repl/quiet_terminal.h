// QuietTerminal: while it lives, what is typed at stdin does not show (it is kept for the next
// prompt), so that it cannot stand in the middle of an answer. Nothing where stdin is no terminal.
#pragma once

#include <termios.h>

namespace kvik::cli {

class QuietTerminal {
  public:
    QuietTerminal();
    ~QuietTerminal() { restore(); }
    QuietTerminal(const QuietTerminal&) = delete;
    QuietTerminal& operator=(const QuietTerminal&) = delete;

    void restore() noexcept;

  private:
    termios before_{};
    bool changed_ = false;
};

}  // namespace kvik::cli
