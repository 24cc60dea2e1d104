// Threads that the process makes for its work leave the signals of terminals and of those who end
// processes to the main thread, which alone can be waiting for them.
#pragma once

#include <csignal>
#include <initializer_list>

namespace kvik {

// For the thread that calls it, the first thing it does.
inline void leave_signals_to_main() noexcept {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT, SIGWINCH})
        ::sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

}  // namespace kvik
