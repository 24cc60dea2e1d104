#include "cli/interrupts.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace kvik::cli {

Interrupts::Interrupts() {
    struct sigaction action {};
    if (::sigaction(SIGINT, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) return;
    sigset_t mask;
    ::sigemptyset(&mask);
    ::sigaddset(&mask, SIGINT);
    fd_ = ::signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd_ < 0) return;  // Ctrl-C then ends the program, as it does by default
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
    return fd_ >= 0 && ::read(fd_, &info, sizeof info) == sizeof info;
}

}  // namespace kvik::cli
