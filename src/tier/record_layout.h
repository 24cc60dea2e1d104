// SegmentHeader, RecordHeader: the bytes of a segment file, which is one segment header and then
// records, each a header and payloads. docs/contracts.md, "KV on disk", has the table of fields.
//
// Shape   | segment header | record header | payload, payload ... | record header | ...
//         all parts begin at multiples of 64; numbers are little endian. Every record header of a
//         segment has the same size, so nothing is trusted to find out how much to read.
// Errors  decode gives nothing for bytes that encode would not have written: checksum, lengths,
//         the offset it lies at, hashes and what is unused are all compared.
// Invariant  a salt, new for every segment, seeds all checksums: no record is valid in another.
// Threads any; there is no state but a Checksum's own.
// Cost    linear in the bytes. A Checksum is as fast as memory, and allocates once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "cache/kv_keys.h"

struct XXH3_state_s;

namespace kvik {

using ChecksumValue = std::array<uint64_t, 2>;

// XXH3-128 with a seed, fed in pieces. It finds what a disk broke; it proves nothing against
// somebody who wants to break it.
class Checksum {
  public:
    explicit Checksum(uint64_t seed);
    void update(std::span<const std::byte> bytes);
    ChecksumValue value() const;

  private:
    struct Free {
        void operator()(XXH3_state_s* state) const noexcept;
    };
    std::unique_ptr<XXH3_state_s, Free> state_;
};

ChecksumValue checksum(uint64_t seed, std::span<const std::byte> bytes);

inline constexpr uint32_t kSegmentVersion = 1;
inline constexpr uint64_t kSegmentHeaderBytes = 128;
inline constexpr uint64_t kRecordAlign = 64;
inline constexpr uint32_t kMostGroups = 32;
inline constexpr uint32_t kMostBlockTokens = 1024;
inline constexpr uint64_t kMostPayloadBytes = uint64_t{1} << 30;
inline constexpr uint64_t kMostRecordHeaderBytes = 128 + 16 * kMostGroups + 4 * kMostBlockTokens;
inline constexpr uint64_t kMostSegmentBytes = uint64_t{1} << 40;

enum class RecordKind : uint32_t { kv = 1, logits = 2 };

// What every record of a segment has in common.
struct SegmentShape {
    uint32_t n_groups = 0;
    uint32_t block_tokens = 0;
    uint64_t block_bytes = 0;

    bool is_lawful() const;
    uint64_t record_header_bytes() const;
    bool operator==(const SegmentShape&) const = default;
};

using Identity = std::array<uint64_t, 4>;
Identity identity_of(std::string_view text);

struct SegmentHeader {
    SegmentShape shape;
    uint64_t salt = 0;
    Identity identity = {};
};

struct RecordHeader {
    RecordKind kind = RecordKind::kv;
    uint64_t offset = 0;  // in its segment
    NamespaceKey ns;
    BlockHash parent = {};
    BlockHash hash = {};
    uint32_t group_mask = 0;          // the payloads that follow, by group; of logits: 1
    uint64_t payload_bytes = 0;       // of each, without what fills it up to 64
    std::vector<ChecksumValue> sums;  // [n_groups]
    std::vector<TokenId> tokens;      // [1 .. block_tokens]

    uint32_t n_payloads() const;
    uint64_t record_bytes(const SegmentShape& shape) const;
    uint64_t payload_offset(const SegmentShape& shape, uint32_t group) const;
    uint64_t end(const SegmentShape& shape) const { return offset + record_bytes(shape); }
};

using SegmentHeaderBytes = std::array<std::byte, kSegmentHeaderBytes>;
SegmentHeaderBytes encode(const SegmentHeader& header);

enum class SegmentVerdict : uint8_t {
    good,
    cut,  // too short for a header: its writer was stopped, or is about to write
    damaged,
    unknown_version,
};
struct DecodedSegment {
    SegmentVerdict verdict = SegmentVerdict::damaged;
    SegmentHeader header;
};
DecodedSegment decode_segment(std::span<const std::byte, kSegmentHeaderBytes> bytes);

// bytes: [record_header_bytes()]
void encode(const RecordHeader& header, const SegmentHeader& segment, std::span<std::byte> bytes);
// Whether a record header can begin with these bytes, at least 16: what is cheap to tell.
bool may_be_record(std::span<const std::byte> bytes, uint64_t offset);
std::optional<RecordHeader> decode_record(const SegmentHeader& segment, uint64_t offset,
                                          std::span<const std::byte> bytes);

// Writes the checksum that the rest of a header asks for.
void seal_segment(std::span<std::byte, kSegmentHeaderBytes> bytes);
void seal_record(uint64_t salt, std::span<std::byte> bytes);

inline uint64_t aligned(uint64_t n_bytes) {
    return (n_bytes + kRecordAlign - 1) / kRecordAlign * kRecordAlign;
}

}  // namespace kvik
