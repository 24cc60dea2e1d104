#include "cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace kvik::cli {
namespace {

// 0, or the errno that stopped it.
int write_all(int fd, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t n = ::write(fd, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        text.remove_prefix(static_cast<size_t>(n));
    }
    return 0;
}

}  // namespace

bool is_terminal(int fd) {
    return ::isatty(fd) == 1;
}

bool may_decorate(int fd) {
    const char* no_color = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    const bool wanted = no_color == nullptr || *no_color == '\0';
    return wanted && term != nullptr && std::string_view(term) != "dumb" && is_terminal(fd);
}

Result<void> put(std::string_view text) {
    const int error = write_all(STDOUT_FILENO, text);
    if (error == EPIPE || error == EBADF) return tl::unexpected(reader_gone());
    if (error != 0)
        return fail(ErrorKind::failed, fmt::format("writing to stdout: {}", std::strerror(error)));
    return {};
}

void note(std::string_view text) noexcept {
    write_all(STDERR_FILENO, text);
}

std::string dim(std::string_view text) {
    return may_decorate(STDERR_FILENO) ? fmt::format("\x1b[2m{}\x1b[0m", text) : std::string(text);
}

std::string printable(std::string_view text) {
    std::string shown;
    for (size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
        if (byte < 0x20 || byte == 0x7f) {
            shown += fmt::format("\\x{:02x}", byte);
        } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
            shown += fmt::format("\\xc2\\x{:02x}", next);
            ++i;
        } else {
            shown += text[i];
        }
    }
    return shown;
}

Error reader_gone() {
    return {ErrorKind::failed, ""};
}
bool is_reader_gone(const Error& error) {
    return error.message.empty();
}

}  // namespace kvik::cli
