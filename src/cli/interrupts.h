// Interrupts: Ctrl-C as a file descriptor that becomes readable, so that no handler and no global
// state is needed. A chat takes SIGTERM and SIGHUP in the same way, so that it can save before it ends.
//
// Use     make one before any thread starts (a new thread inherits the blocked signal); wait on
//         fd() together with what else is waited for, and ask take() in loops.
// Owner   these signals of the process, as long as it lives; then they are as they were before.
// Invariant a signal that is ignored (a job in the background of a script, nohup) stays ignored.
#pragma once

#include <csignal>
#include <cstdint>

namespace kvik::cli {

class Interrupts {
  public:
    enum class Ends : uint8_t { by_default, taken };  // what SIGTERM and SIGHUP do

    explicit Interrupts(Ends ends = Ends::by_default);
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    int fd() const { return fd_; }              // -1: there will be none
    bool take();                                // true once for each signal that came; never waits
    int ended_by() const { return ended_by_; }  // SIGTERM or SIGHUP, if take() has met one; else 0

  private:
    sigset_t before_{};
    int fd_ = -1;
    int ended_by_ = 0;
};

}  // namespace kvik::cli
