#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

#include <algorithm>
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

namespace {

// The characters that stdout has of a text so far; a piece may end inside of one.
TerminalText& shown_on_stdout() {
    static TerminalText text;
    return text;
}

Result<void> write_stdout(std::string_view text) {
    const int error = write_all(STDOUT_FILENO, text);
    if (error == EPIPE || error == EBADF) return tl::unexpected(reader_gone());
    if (error != 0)
        return fail(ErrorKind::failed, fmt::format("writing to stdout: {}", std::strerror(error)));
    return {};
}

}  // namespace

Result<void> put(std::string_view text) {
    if (!is_terminal(STDOUT_FILENO)) return write_stdout(text);
    std::string shown;
    shown_on_stdout().push(text, shown);
    return write_stdout(shown);
}

Result<void> finish_put() {
    std::string shown;
    shown_on_stdout().finish(shown);
    return write_stdout(shown);
}

void note(std::string_view text) noexcept {
    write_all(STDERR_FILENO, is_terminal(STDERR_FILENO) ? printable_lines(text) : text);
}

void note_dim(std::string_view text) noexcept {
    const bool dims = may_decorate(STDERR_FILENO);
    if (dims) steer("\x1b[2m");
    note(text);
    if (dims) steer("\x1b[0m");
}

void note_line(std::string_view line) noexcept {
    note_dim(is_terminal(STDERR_FILENO) ? wrapped(line, columns_of(STDERR_FILENO))
                                        : std::string(line));
    note("\n");
}

void steer(Control control) noexcept {
    write_all(STDERR_FILENO, control.sequence());
}

std::string counted(uint64_t n, std::string_view thing) {
    return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s");
}

std::string human_bytes(uint64_t bytes) {
    const auto value = static_cast<double>(bytes);
    if (bytes < 1u << 10) return fmt::format("{} B", bytes);
    if (bytes < 1u << 20) return fmt::format("{:.1f} KiB", value / (1 << 10));
    if (bytes < 1u << 30) return fmt::format("{:.1f} MiB", value / (1 << 20));
    return fmt::format("{:.2f} GiB", value / (1 << 30));
}

uint32_t columns_of(int fd) {
    winsize size{};
    return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

Glyph glyph_at(std::string_view text, size_t at) {
    utf8proc_int32_t c = 0;
    const auto n_bytes =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                         static_cast<utf8proc_ssize_t>(text.size() - at), &c);
    if (n_bytes <= 0) return {};
    return {static_cast<size_t>(n_bytes), static_cast<size_t>(utf8proc_charwidth(c))};
}

namespace {

size_t columns_in(std::string_view text) {
    size_t n_columns = 0;
    for (size_t at = 0; at < text.size();) {
        const Glyph glyph = glyph_at(text, at);
        at += glyph.n_bytes;
        n_columns += glyph.n_columns;
    }
    return n_columns;
}

}  // namespace

std::string cut_to_columns(std::string_view text, uint32_t n_columns) {
    constexpr std::string_view kMore = "...";
    if (columns_in(text) <= n_columns) return std::string(text);
    const std::string_view more = kMore.substr(0, n_columns);
    size_t at = 0, n_used = 0;
    for (;;) {
        const Glyph glyph = glyph_at(text, at);
        if (n_used + glyph.n_columns > n_columns - more.size()) break;
        at += glyph.n_bytes;
        n_used += glyph.n_columns;
    }
    return std::string(text.substr(0, at)) + std::string(more);
}

std::string wrapped(std::string_view text, uint32_t n_columns, uint32_t indent) {
    std::string lines;
    size_t n_used = 0;
    for (bool begins = true; !text.empty(); begins = false) {
        const size_t n_blanks = std::min(text.find_first_not_of(' '), text.size());
        const size_t end = std::min(text.find(' ', n_blanks), text.size());
        const std::string_view word = text.substr(n_blanks, end - n_blanks);
        const size_t n_word = columns_in(word);
        if (!begins && n_used + n_blanks + n_word > n_columns) {
            lines += "\n" + std::string(indent, ' ');
            n_used = indent;
        } else {
            lines += text.substr(0, n_blanks);
            n_used += n_blanks;
        }
        lines += word;
        n_used += n_word;
        text.remove_prefix(end);
    }
    return lines;
}

Error reader_gone() {
    return {ErrorKind::failed, ""};
}
bool is_reader_gone(const Error& error) {
    return error.message.empty();
}

}  // namespace kvik::cli
