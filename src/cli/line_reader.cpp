#include "cli/line_reader.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace kvik::cli {
namespace {

constexpr size_t kMostBytes = 32u << 20;

}  // namespace

Result<LineReader::Got> LineReader::fill() {
    if (buffer_.size() > kMostBytes)
        return fail(ErrorKind::usage,
                    fmt::format("input is longer than {} MiB: shorten it", kMostBytes >> 20));
    for (;;) {
        std::array<pollfd, 2> waiting{};
        waiting[0] = {fd_, POLLIN, 0};
        waiting[1] = {interrupts_ != nullptr ? interrupts_->fd() : -1, POLLIN, 0};
        if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) break;
        if (interrupts_ != nullptr && interrupts_->take()) return Got::interrupt;
        if (waiting[0].revents == 0) continue;
        std::array<char, 1 << 16> chunk;
        const ssize_t n = ::read(fd_, chunk.data(), chunk.size());
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n < 0) break;
        if (n == 0) return Got::end;
        buffer_.append(chunk.data(), static_cast<size_t>(n));
        return Got::line;
    }
    return fail(ErrorKind::file, fmt::format("reading the input: {}", std::strerror(errno)));
}

Result<LineReader::Got> LineReader::next(std::string& line) {
    size_t end = 0;
    while ((end = buffer_.find('\n', scanned_)) == std::string::npos) {
        scanned_ = buffer_.size();
        if (!ended_) {
            KVIK_TRY(const Got got, fill());
            if (got == Got::interrupt) return got;
            ended_ = got == Got::end;
            continue;
        }
        if (buffer_.empty()) return Got::end;
        end = buffer_.size();
        break;
    }
    line.assign(buffer_, 0, end);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    buffer_.erase(0, end + 1);
    scanned_ = 0;
    return Got::line;
}

Result<LineReader::Got> LineReader::rest(std::string& text) {
    while (!ended_) {
        KVIK_TRY(const Got got, fill());
        if (got == Got::interrupt) return got;
        ended_ = got == Got::end;
    }
    text = std::move(buffer_);
    buffer_.clear();
    scanned_ = 0;
    return Got::end;
}

}  // namespace kvik::cli
