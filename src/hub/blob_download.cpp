#include "hub/blob_download.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include "formats/byte_cursor.h"
#include "hub/server_errors.h"

namespace kvik::hub {
namespace {

constexpr double kLockPause_s = 0.2;

std::optional<uint64_t> number_in(std::string_view text) {
    uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

// "bytes 100-199/200": 100 and 200.
struct ContentRange {
    uint64_t first = 0, total = 0;
};
std::optional<ContentRange> parse_content_range(std::string_view text) {
    constexpr std::string_view kUnit = "bytes ";
    if (!text.starts_with(kUnit)) return std::nullopt;
    text.remove_prefix(kUnit.size());
    const size_t dash = text.find('-'), slash = text.find('/');
    if (dash == text.npos || slash == text.npos || dash > slash) return std::nullopt;
    const auto first = number_in(text.substr(0, dash)), total = number_in(text.substr(slash + 1));
    if (!first || !total) return std::nullopt;
    return ContentRange{*first, *total};
}

}  // namespace

BlobDownload::BlobDownload(HttpClient& http, const HttpOptions& options, const HfCache& cache,
                           BlobSource source, const BlobWatch& watch)
    : http_(http),
      options_(options),
      cache_(cache),
      source_(std::move(source)),
      watch_(watch),
      check_(source_.checksum, source_.bytes) {}

Result<OpenFile> BlobDownload::lock() {
    for (bool is_told = false;;) {
        bool is_taken = false;
        KVIK_TRY(OpenFile file, cache_.try_lock(source_.checksum, is_taken));
        if (!is_taken) return file;
        if (!is_told) watch_.tell(fmt::format("another process fetches {}: waiting", source_.what));
        is_told = true;
        KVIK_TRY_VOID(http_.pause(kLockPause_s));
    }
}

Result<void> BlobDownload::start_over() {
    if (::ftruncate(file_.get(), 0) != 0)
        return fail(ErrorKind::file,
                    fmt::format("writing {}: {}", cache_.incomplete(source_.checksum),
                                std::strerror(errno)));
    check_ = ContentCheck(source_.checksum, source_.bytes);
    n_here_ = 0;
    return {};
}

Result<void> BlobDownload::read_what_is_here() {
    std::vector<char> piece(1 << 20);
    for (;;) {
        const ssize_t n =
            ::pread(file_.get(), piece.data(), piece.size(), static_cast<off_t>(n_here_));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        n_here_ += static_cast<uint64_t>(n);
        if (n_here_ > source_.bytes) return start_over();
        check_.update(std::as_bytes(std::span(piece.data(), static_cast<size_t>(n))));
        watch_.progress(n_here_, 0, true);
        KVIK_TRY_VOID(http_.pause(0));
    }
    return {};
}

// What a success must say of itself before its bytes are taken.
Result<void> BlobDownload::check_head(const HttpReply& head) {
    if (head.status == 206) {
        const auto range = parse_content_range(head.header("content-range"));
        if (!range || range->first != n_here_ || range->total != source_.bytes)
            return fail(ErrorKind::failed,
                        fmt::format("{}: asked for the bytes from {} of {}, the server sends {}",
                                    source_.what, n_here_, source_.bytes,
                                    in_quotes(head.header("content-range"))));
    } else if (n_here_ > 0) {
        watch_.tell(fmt::format(
            "{}: the server cannot go on where it was cut, from the start again", source_.what));
        KVIK_TRY_VOID(start_over());
    }
    const auto length = number_in(head.header("content-length"));
    if (length && *length != source_.bytes - n_here_)
        return fail(
            ErrorKind::failed,
            fmt::format("{}: the server sends {} bytes where {} are due: fetch it later, or "
                        "from another HF_ENDPOINT",
                        source_.what, *length, source_.bytes - n_here_));
    etag_ = head.header("etag");
    etag_url_ = head.url.substr(0, head.url.find('?'));
    return {};
}

Result<void> BlobDownload::write(std::string_view piece) {
    while (!piece.empty()) {
        const ssize_t n =
            ::pwrite(file_.get(), piece.data(), piece.size(), static_cast<off_t>(n_here_));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            return fail(ErrorKind::file,
                        fmt::format("writing {}: {}: make room, or set HF_HOME to a folder on "
                                    "another disk",
                                    cache_.incomplete(source_.checksum), std::strerror(errno)));
        check_.update(std::as_bytes(std::span(piece.data(), static_cast<size_t>(n))));
        n_here_ += static_cast<uint64_t>(n);
        piece.remove_prefix(static_cast<size_t>(n));
    }
    return {};
}

Result<void> BlobDownload::take(const HttpReply& head, std::string_view piece) {
    if (!is_head_checked_) KVIK_TRY_VOID(check_head(head));
    is_head_checked_ = true;
    if (piece.size() > source_.bytes - n_here_)
        return fail(ErrorKind::failed, fmt::format("{}: the server sends more than the {} bytes "
                                                   "that it should have",
                                                   source_.what, source_.bytes));
    KVIK_TRY_VOID(write(piece));
    watch_.progress(n_here_, piece.size(), false);
    return {};
}

Result<void> BlobDownload::fetch() {
    const auto sink = [this](const HttpReply& head, std::string_view piece) {
        return take(head, piece);
    };
    for (int n_tries = 1; n_here_ < source_.bytes; ++n_tries) {
        const uint64_t before = n_here_;
        is_head_checked_ = false;
        HttpRequest request{.url = source_.url, .from = n_here_};
        // What another host says of its file is of no use to this one. A weak ETag is none.
        if (etag_.starts_with('"') && source_.url == etag_url_) request.if_range = etag_;
        KVIK_TRY(HttpReply reply, http_.send(request, sink));
        if (n_here_ == source_.bytes) break;
        if (reply.is_success() && reply.trouble.empty()) reply.trouble = "the connection was cut";
        if (reply.status == 416) {
            KVIK_TRY_VOID(start_over());
            reply.trouble = "the part that is here does not fit";
        }
        if (n_here_ > before) n_tries = 1;
        const auto wait = wait_before_retry(reply, n_tries);
        if (!wait) return tl::unexpected(server_error(reply, source_.what, options_));
        watch_.tell(fmt::format(
            "{}: {}, trying again in {:.1f} s", source_.what,
            reply.trouble.empty() ? fmt::format("status {}", reply.status) : reply.trouble, *wait));
        KVIK_TRY_VOID(http_.pause(*wait));
    }
    return {};
}

Result<bool> BlobDownload::is_right() {
    if (check_.finish() == source_.checksum) return true;
    KVIK_TRY_VOID(start_over());
    ::unlink(cache_.incomplete(source_.checksum).c_str());
    return false;
}

Result<void> BlobDownload::run() {
    KVIK_TRY(const OpenFile held, lock());
    if (cache_.has_blob(source_.checksum, source_.bytes)) return {};
    for (int i = 0;; ++i) {
        KVIK_TRY(file_, cache_.open_incomplete(source_.checksum));
        KVIK_TRY_VOID(read_what_is_here());
        const bool was_resumed = n_here_ > 0;
        KVIK_TRY_VOID(fetch());
        KVIK_TRY(const bool right, is_right());
        if (right) return cache_.finish_blob(file_, source_.checksum);
        if (!was_resumed || i > 0)
            return fail(ErrorKind::failed,
                        fmt::format("{}: its checksum is not {}: what came is damaged and was "
                                    "removed; try again, or another network or HF_ENDPOINT",
                                    source_.what, source_.checksum));
        watch_.tell(fmt::format("{}: the part of an earlier try was damaged, from the start again",
                                source_.what));
    }
}

}  // namespace kvik::hub
