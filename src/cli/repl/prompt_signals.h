// PromptSignals: what the terminal and the system say while somebody types, as a descriptor.
//
// Use     make one for the time of a prompt; wait on fd(), then take().
// Owner   SIGWINCH, SIGTSTP, SIGCONT, SIGHUP, SIGTERM and SIGQUIT of this thread while it lives;
//         signals that came and were not taken act as usual afterwards.
// Invariant a signal that the process ignores stays ignored. The other threads take none of them
//         (base/thread_signals.h).
#pragma once

#include <csignal>

namespace kvik::cli {

class PromptSignals {
  public:
    PromptSignals();
    ~PromptSignals();
    PromptSignals(const PromptSignals&) = delete;
    PromptSignals& operator=(const PromptSignals&) = delete;

    int fd() const { return fd_; }  // -1: there will be none
    int take();                     // the number of a signal that came, else 0; never waits
    // Lets a signal do what it does by default: the process stops, or ends.
    void let_act(int signal);

  private:
    sigset_t mask_{}, before_{};
    int fd_ = -1;
};

}  // namespace kvik::cli
