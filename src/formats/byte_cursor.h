// ByteCursor: reads little-endian numbers and strings, front to back, from bytes that may lie.
//
// Owner   nobody: strings and spans point into the bytes given.
// Use     bytes may be only the first ones of a larger file: a read behind them fails, and wanted()
//         says how many first ones it takes.
// Cost    a read that succeeds never allocates.
// Invariant offset() <= size; a read that fails moves nothing; no length is added or multiplied
//         before it was compared with what remains.
// Errors  one line: the file, the field and whose it is, the byte offset, what is wrong, what to
//         do. Whatever a file says is quoted, so that it can neither break the line nor fill it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvik {

static_assert(std::endian::native == std::endian::little, "files are read as they lie");

// 'text' with everything but printable ASCII escaped, cut after 64 bytes or some 128 as shown.
std::string in_quotes(std::string_view text);

// What is being read, for messages: "n_dims" of tensor "blk.0.attn_q.weight".
struct Field {
    std::string_view name;
    std::string_view kind = {};   // "tensor" or "key"; empty: the field is the file's own
    std::string_view owner = {};  // quoted in the message
};

class ByteCursor {
  public:
    ByteCursor(std::span<const std::byte> bytes, std::string_view file)
        : ByteCursor(bytes, file, bytes.size()) {}
    ByteCursor(std::span<const std::byte> first_bytes, std::string_view file, uint64_t file_bytes)
        : bytes_(first_bytes), file_bytes_(file_bytes), file_(file) {}

    uint64_t offset() const { return offset_; }
    uint64_t n_left() const { return file_bytes_ - offset_; }
    // 0, or how many first bytes the read takes that failed because it was not given them.
    uint64_t wanted() const { return wanted_; }
    std::string_view file() const { return file_; }

    template <class T>
    Result<T> number(const Field& field) {
        if (n_left() < sizeof(T)) return tl::unexpected<Error>(cut_short(field, sizeof(T)));
        KVIK_TRY_VOID(want(field, sizeof(T)));
        T value;
        std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
        offset_ += sizeof(T);
        return value;
    }
    // A u64 number of things: at most `max`, and of `min_bytes` each they can still be there.
    Result<uint64_t> count(const Field& field, uint64_t max, uint64_t min_bytes);
    // A u64 length and as many bytes, at most `max_bytes`.
    Result<std::string_view> text(const Field& field, uint64_t max_bytes);
    Result<std::span<const std::byte>> take(const Field& field, uint64_t n_bytes);

    // "<file>: <field> at byte <offset>: <problem>"
    Error error_at(uint64_t offset, const Field& field, std::string_view problem,
                   ErrorKind kind = ErrorKind::file) const;

  private:
    Error cut_short(const Field& field, uint64_t n_bytes) const;
    // Whether n_bytes, which are in the file, are among those given.
    Result<void> want(const Field& field, uint64_t n_bytes) {
        if (n_bytes <= bytes_.size() - offset_) return {};
        wanted_ = offset_ + n_bytes;
        return tl::unexpected<Error>(error_at(offset_, field, "was not read yet"));
    }

    std::span<const std::byte> bytes_;
    uint64_t file_bytes_;
    uint64_t wanted_ = 0;
    std::string_view file_;
    uint64_t offset_ = 0;
};

}  // namespace kvik
