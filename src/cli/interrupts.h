// Interrupts: Ctrl-C as a file descriptor that becomes readable, so that no handler and no global
// state is needed.
//
// Use     make one before any thread starts (a new thread inherits the blocked signal); wait on
//         fd() together with what else is waited for, and ask take() in loops.
// Owner   SIGINT of the process, as long as it lives; then it is as it was before.
// Invariant where SIGINT is ignored (a job in the background of a script), it stays ignored.
#pragma once

#include <csignal>

namespace kvik::cli {

class Interrupts {
  public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    int fd() const { return fd_; }  // -1: there will be none
    bool take();                    // true once for each Ctrl-C that came; never waits

  private:
    sigset_t before_{};
    int fd_ = -1;
};

}  // namespace kvik::cli
