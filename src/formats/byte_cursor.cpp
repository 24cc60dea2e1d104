#include "formats/byte_cursor.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvik {
namespace {

constexpr size_t kMaxQuotedBytes = 64;
constexpr size_t kMaxShownBytes = 128;  // of these, escaped

}  // namespace

std::string in_quotes(std::string_view text) {
    std::string out = "'";
    size_t n = 0;
    for (; n < std::min(text.size(), kMaxQuotedBytes) && out.size() < kMaxShownBytes; ++n) {
        const char c = text[n];
        const auto byte = static_cast<uint8_t>(c);
        if (byte < 0x20 || byte > 0x7e || c == '\'' || c == '\\')
            out += fmt::format("\\x{:02x}", byte);
        else
            out += c;
    }
    out += n < text.size() ? "...'" : "'";
    return out;
}

Result<uint64_t> ByteCursor::count(const Field& field, uint64_t max, uint64_t min_bytes) {
    const uint64_t at = offset_;
    KVIK_TRY(const uint64_t n, number<uint64_t>(field));
    const uint64_t left = n_left();
    if (n <= max && n <= left / min_bytes) return n;
    offset_ = at;
    if (n > max)
        return tl::unexpected<Error>(error_at(
            at, field,
            fmt::format("is {}, the limit is {}: the file is damaged, fetch it again", n, max)));
    return tl::unexpected<Error>(error_at(
        at, field,
        fmt::format("{} of at least {} bytes each cannot be in the {} bytes that remain: the file "
                    "is cut short or damaged, fetch it again",
                    n, min_bytes, left)));
}

Result<std::string_view> ByteCursor::text(const Field& field, uint64_t max_bytes) {
    const uint64_t at = offset_;
    KVIK_TRY(const uint64_t n, number<uint64_t>(field));
    const uint64_t left = n_left();
    if (n <= max_bytes && n <= left) {
        KVIK_TRY_VOID(want(field, n));
        const auto* begin = reinterpret_cast<const char*>(bytes_.data() + offset_);
        offset_ += n;
        return std::string_view(begin, n);
    }
    offset_ = at;
    if (n > max_bytes)
        return tl::unexpected<Error>(error_at(
            at, field,
            fmt::format(
                "a string of {} bytes, the limit is {}: the file is damaged, fetch it again", n,
                max_bytes)));
    return tl::unexpected<Error>(
        error_at(at, field,
                 fmt::format("a string of {} bytes, {} bytes remain: the file is cut short or "
                             "damaged, fetch it again",
                             n, left)));
}

Result<std::span<const std::byte>> ByteCursor::take(const Field& field, uint64_t n_bytes) {
    if (n_left() < n_bytes) return tl::unexpected<Error>(cut_short(field, n_bytes));
    KVIK_TRY_VOID(want(field, n_bytes));
    const auto taken = bytes_.subspan(offset_, n_bytes);
    offset_ += n_bytes;
    return taken;
}

Error ByteCursor::error_at(uint64_t offset, const Field& field, std::string_view problem,
                           ErrorKind kind) const {
    std::string what(field.name);
    if (!field.kind.empty()) what += fmt::format(" of {} {}", field.kind, in_quotes(field.owner));
    return {kind, fmt::format("{}: {} at byte {}: {}", file_, what, offset, problem)};
}

Error ByteCursor::cut_short(const Field& field, uint64_t n_bytes) const {
    return error_at(offset_, field,
                    fmt::format("needs {} bytes, {} remain: the file is cut short, fetch it again",
                                n_bytes, n_left()));
}

}  // namespace kvik
