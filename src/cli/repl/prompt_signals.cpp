#include "cli/repl/prompt_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <initializer_list>

namespace kvik::cli {

PromptSignals::PromptSignals() {
    ::sigemptyset(&mask_);
    for (const int signal : {SIGWINCH, SIGTSTP, SIGCONT, SIGQUIT}) {
        struct sigaction action {};
        if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
            ::sigaddset(&mask_, signal);
    }
    fd_ = ::signalfd(-1, &mask_, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd_ >= 0) ::pthread_sigmask(SIG_BLOCK, &mask_, &before_);
}

PromptSignals::~PromptSignals() {
    if (fd_ < 0) return;
    ::close(fd_);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int PromptSignals::take() {
    signalfd_siginfo info;
    if (fd_ < 0 || ::read(fd_, &info, sizeof info) != sizeof info) return 0;
    return static_cast<int>(info.ssi_signo);
}

void PromptSignals::let_act(int signal) {
    ::raise(signal);
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, signal);
    ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
    ::pthread_sigmask(SIG_BLOCK, &only, nullptr);
}

}  // namespace kvik::cli
