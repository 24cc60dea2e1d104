#include "tier/record_layout.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <string>

#include "base/check.h"
#include "base/digest.h"

namespace kvik {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie");

constexpr uint64_t kSegmentMagic = 0x004745534B49564B;  // "KVIKSEG" 0
constexpr uint64_t kRecordMagic = 0x004345524B49564B;   // "KVIKREC" 0

constexpr size_t kSegmentSumAt = 112;
constexpr size_t kRecordSumAt = 112;
constexpr size_t kRecordFixedBytes = 128;

// Puts values one after the other.
class Pen {
  public:
    explicit Pen(std::span<std::byte> bytes) : bytes_(bytes) {}
    template <class T>
    void put(const T& value) {
        std::memcpy(bytes_.data() + at_, &value, sizeof(value));
        at_ += sizeof(value);
    }

  private:
    std::span<std::byte> bytes_;
    size_t at_ = 0;
};

// Takes them again.
class Eye {
  public:
    explicit Eye(std::span<const std::byte> bytes) : bytes_(bytes) {}
    template <class T>
    T take() {
        T value;
        std::memcpy(&value, bytes_.data() + at_, sizeof(value));
        at_ += sizeof(value);
        return value;
    }

  private:
    std::span<const std::byte> bytes_;
    size_t at_ = 0;
};

// Of all bytes but the checksum itself, which lies at the same offset in both headers.
ChecksumValue sum_around(uint64_t seed, std::span<const std::byte> bytes, size_t sum_at) {
    Checksum sum(seed);
    sum.update(bytes.first(sum_at));
    sum.update(bytes.subspan(sum_at + sizeof(ChecksumValue)));
    return sum.value();
}

bool is_lawful(const RecordHeader& header, const SegmentShape& shape) {
    const uint64_t groups = (uint64_t{1} << shape.n_groups) - 1;
    if (header.tokens.empty() || header.tokens.size() > shape.block_tokens) return false;
    switch (header.kind) {
        case RecordKind::kv:
            if (header.payload_bytes != shape.block_bytes) return false;
            break;
        case RecordKind::logits:
            if (header.group_mask != 1) return false;
            break;
        default:
            return false;
    }
    return header.group_mask != 0 && (header.group_mask & ~groups) == 0 &&
           header.payload_bytes > 0 && header.payload_bytes <= kMostPayloadBytes;
}

}  // namespace

bool SegmentShape::is_lawful() const {
    return n_groups >= 1 && n_groups <= kMostGroups && block_tokens >= 1 &&
           block_tokens <= kMostBlockTokens && block_bytes >= 1 && block_bytes <= kMostPayloadBytes;
}

uint64_t SegmentShape::record_header_bytes() const {
    return aligned(kRecordFixedBytes + sizeof(ChecksumValue) * n_groups +
                   sizeof(TokenId) * block_tokens);
}

Identity identity_of(std::string_view text) {
    return namespace_key({text}).words;
}

uint32_t RecordHeader::n_payloads() const {
    return static_cast<uint32_t>(std::popcount(group_mask));
}

uint64_t RecordHeader::record_bytes(const SegmentShape& shape) const {
    return shape.record_header_bytes() + n_payloads() * aligned(payload_bytes);
}

uint64_t RecordHeader::payload_offset(const SegmentShape& shape, uint32_t group) const {
    const uint32_t before = group_mask & ((uint32_t{1} << group) - 1);
    return offset + shape.record_header_bytes() +
           static_cast<uint64_t>(std::popcount(before)) * aligned(payload_bytes);
}

SegmentHeaderBytes encode(const SegmentHeader& header) {
    SegmentHeaderBytes bytes = {};
    Pen pen(bytes);
    pen.put(kSegmentMagic);
    pen.put(kSegmentVersion);
    pen.put(static_cast<uint32_t>(kSegmentHeaderBytes));
    pen.put(header.shape.n_groups);
    pen.put(header.shape.block_tokens);
    pen.put(header.shape.block_bytes);
    pen.put(header.salt);
    pen.put(header.identity);
    seal_segment(bytes);
    return bytes;
}

void seal_segment(std::span<std::byte, kSegmentHeaderBytes> bytes) {
    const ChecksumValue sum = sum_around(0, bytes, kSegmentSumAt);
    std::memcpy(bytes.data() + kSegmentSumAt, &sum, sizeof(sum));
}

DecodedSegment decode_segment(std::span<const std::byte, kSegmentHeaderBytes> bytes) {
    Eye eye(bytes);
    DecodedSegment decoded;
    if (eye.take<uint64_t>() != kSegmentMagic) return decoded;
    if (eye.take<uint32_t>() != kSegmentVersion) {
        decoded.verdict = SegmentVerdict::unknown_version;
        return decoded;
    }
    eye.take<uint32_t>();
    SegmentHeader& header = decoded.header;
    header.shape.n_groups = eye.take<uint32_t>();
    header.shape.block_tokens = eye.take<uint32_t>();
    header.shape.block_bytes = eye.take<uint64_t>();
    header.salt = eye.take<uint64_t>();
    header.identity = eye.take<Identity>();
    const SegmentHeaderBytes again = encode(header);
    if (header.shape.is_lawful() && std::ranges::equal(again, bytes))
        decoded.verdict = SegmentVerdict::good;
    return decoded;
}

void encode(const RecordHeader& header, const SegmentHeader& segment, std::span<std::byte> bytes) {
    const SegmentShape& shape = segment.shape;
    KVIK_CHECK(bytes.size() == shape.record_header_bytes() && is_lawful(header, shape) &&
                   header.sums.size() == shape.n_groups,
               "a record fits its segment");
    std::ranges::fill(bytes, std::byte{});
    Pen pen(bytes);
    pen.put(kRecordMagic);
    pen.put(header.offset);
    pen.put(header.record_bytes(shape));
    pen.put(header.payload_bytes);
    pen.put(header.kind);
    pen.put(static_cast<uint32_t>(header.tokens.size()));
    pen.put(header.group_mask);
    pen.put(uint32_t{0});
    pen.put(header.ns);
    pen.put(header.parent);
    pen.put(header.id);
    pen.put(ChecksumValue{});
    for (uint32_t group = 0; group < shape.n_groups; ++group)
        pen.put((header.group_mask >> group & 1) != 0 ? header.sums[group] : ChecksumValue{});
    for (const TokenId token : header.tokens) pen.put(token);
    seal_record(segment.salt, bytes);
}

void seal_record(uint64_t salt, std::span<std::byte> bytes) {
    const ChecksumValue sum = sum_around(salt, bytes, kRecordSumAt);
    std::memcpy(bytes.data() + kRecordSumAt, &sum, sizeof(sum));
}

bool may_be_record(std::span<const std::byte> bytes, uint64_t offset) {
    Eye eye(bytes);
    return eye.take<uint64_t>() == kRecordMagic && eye.take<uint64_t>() == offset;
}

std::optional<RecordHeader> decode_record(const SegmentHeader& segment, uint64_t offset,
                                          std::span<const std::byte> bytes) {
    const SegmentShape& shape = segment.shape;
    if (bytes.size() != shape.record_header_bytes()) return {};
    Eye eye(bytes);
    RecordHeader header;
    if (eye.take<uint64_t>() != kRecordMagic) return {};
    header.offset = eye.take<uint64_t>();
    eye.take<uint64_t>();  // follows from the rest, as all that is passed over here
    header.payload_bytes = eye.take<uint64_t>();
    header.kind = eye.take<RecordKind>();
    const auto n_tokens = eye.take<uint32_t>();
    header.group_mask = eye.take<uint32_t>();
    eye.take<uint32_t>();
    header.ns = eye.take<NamespaceKey>();
    header.parent = eye.take<BlockHash>();
    header.id = eye.take<BlockHash>();
    eye.take<ChecksumValue>();
    if (header.offset != offset || n_tokens > shape.block_tokens) return {};
    for (uint32_t g = 0; g < shape.n_groups; ++g) header.sums.push_back(eye.take<ChecksumValue>());
    for (uint32_t i = 0; i < n_tokens; ++i) header.tokens.push_back(eye.take<TokenId>());
    if (!is_lawful(header, shape)) return {};
    std::array<std::byte, kMostRecordHeaderBytes> buffer;
    const auto again = std::span(buffer).first(bytes.size());
    encode(header, segment, again);
    if (!std::ranges::equal(again, bytes)) return {};
    if (header.id != block_hash(header.ns, header.parent, header.tokens)) return {};
    return header;
}

}  // namespace kvik
