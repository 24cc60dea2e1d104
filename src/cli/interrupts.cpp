#include "cli/interrupts.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <initializer_list>

namespace kvik::cli {

Interrupts::Interrupts(Ends ends) {
    sigset_t mask;
    ::sigemptyset(&mask);
    bool is_any = false;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction action {};
        if (signal != SIGINT && ends == Ends::by_default) continue;
        if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
        ::sigaddset(&mask, signal);
        is_any = true;
    }
    if (!is_any) return;
    fd_ = ::signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd_ < 0) return;  // a signal then ends the program, as it does by default
    ::pthread_sigmask(SIG_BLOCK, &mask, &before_);
}

Interrupts::~Interrupts() {
    if (fd_ < 0) return;
    while (take()) {
    }
    ::close(fd_);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Interrupts::take() {
    signalfd_siginfo info;
    if (fd_ < 0 || ::read(fd_, &info, sizeof info) != sizeof info) return false;
    if (info.ssi_signo != SIGINT) ended_by_ = static_cast<int>(info.ssi_signo);
    return true;
}

}  // namespace kvik::cli
