#include "tier/record_layout.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <string>

#include "base/check.h"
#include "base/digest.h"

namespace kvik {

// ---- checksums ----

void Checksum::Free::operator()(XXH3_state_s* state) const noexcept {
    XXH3_freeState(state);
}

Checksum::Checksum(uint64_t seed) : state_(XXH3_createState()) {
    KVIK_CHECK(state_ && XXH3_128bits_reset_withSeed(state_.get(), seed) == XXH_OK,
               "there is memory for a checksum");
}

void Checksum::update(std::span<const std::byte> bytes) {
    XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
}

ChecksumValue Checksum::value() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return {hash.low64, hash.high64};
}

ChecksumValue checksum(uint64_t seed, std::span<const std::byte> bytes) {
    const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
    return {hash.low64, hash.high64};
}

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie");

constexpr uint64_t kSegmentMagic = 0x004745534B49564B;  // "KVIKSEG" 0
constexpr uint64_t kRecordMagic = 0x004345524B49564B;   // "KVIKREC" 0

constexpr size_t kSegmentSumAt = 112;
constexpr size_t kRecordSumAt = 112;
constexpr size_t kRecordFixedBytes = 128;

// Writes values one after the other.
class FieldWriter {
  public:
    explicit FieldWriter(std::span<std::byte> bytes) : bytes_(bytes) {}
    template <class T>
    void put(const T& value) {
        std::memcpy(bytes_.data() + at_, &value, sizeof(value));
        at_ += sizeof(value);
    }

  private:
    std::span<std::byte> bytes_;
    size_t at_ = 0;
};

// Reads values one after the other.
class FieldReader {
  public:
    explicit FieldReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
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

// Computes the checksum of all bytes but the checksum itself, which lies at the same offset in both
// kinds of header.
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
    FieldWriter writer(bytes);
    writer.put(kSegmentMagic);
    writer.put(kSegmentVersion);
    writer.put(static_cast<uint32_t>(kSegmentHeaderBytes));
    writer.put(header.shape.n_groups);
    writer.put(header.shape.block_tokens);
    writer.put(header.shape.block_bytes);
    writer.put(header.salt);
    writer.put(header.identity);
    seal_segment(bytes);
    return bytes;
}

void seal_segment(std::span<std::byte, kSegmentHeaderBytes> bytes) {
    const ChecksumValue sum = sum_around(0, bytes, kSegmentSumAt);
    std::memcpy(bytes.data() + kSegmentSumAt, &sum, sizeof(sum));
}

DecodedSegment decode_segment(std::span<const std::byte, kSegmentHeaderBytes> bytes) {
    FieldReader reader(bytes);
    DecodedSegment decoded;
    if (reader.take<uint64_t>() != kSegmentMagic) return decoded;
    if (reader.take<uint32_t>() != kSegmentVersion) {
        decoded.verdict = SegmentVerdict::unknown_version;
        return decoded;
    }
    reader.take<uint32_t>();
    SegmentHeader& header = decoded.header;
    header.shape.n_groups = reader.take<uint32_t>();
    header.shape.block_tokens = reader.take<uint32_t>();
    header.shape.block_bytes = reader.take<uint64_t>();
    header.salt = reader.take<uint64_t>();
    header.identity = reader.take<Identity>();
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
    FieldWriter writer(bytes);
    writer.put(kRecordMagic);
    writer.put(header.offset);
    writer.put(header.record_bytes(shape));
    writer.put(header.payload_bytes);
    writer.put(header.kind);
    writer.put(static_cast<uint32_t>(header.tokens.size()));
    writer.put(header.group_mask);
    writer.put(uint32_t{0});
    writer.put(header.ns);
    writer.put(header.parent);
    writer.put(header.hash);
    writer.put(ChecksumValue{});
    for (uint32_t group = 0; group < shape.n_groups; ++group)
        writer.put((header.group_mask >> group & 1) != 0 ? header.sums[group] : ChecksumValue{});
    for (const TokenId token : header.tokens) writer.put(token);
    seal_record(segment.salt, bytes);
}

void seal_record(uint64_t salt, std::span<std::byte> bytes) {
    const ChecksumValue sum = sum_around(salt, bytes, kRecordSumAt);
    std::memcpy(bytes.data() + kRecordSumAt, &sum, sizeof(sum));
}

bool may_be_record(std::span<const std::byte> bytes, uint64_t offset) {
    FieldReader reader(bytes);
    return reader.take<uint64_t>() == kRecordMagic && reader.take<uint64_t>() == offset;
}

std::optional<RecordHeader> decode_record(const SegmentHeader& segment, uint64_t offset,
                                          std::span<const std::byte> bytes) {
    const SegmentShape& shape = segment.shape;
    if (bytes.size() != shape.record_header_bytes()) return {};
    FieldReader reader(bytes);
    RecordHeader header;
    if (reader.take<uint64_t>() != kRecordMagic) return {};
    header.offset = reader.take<uint64_t>();
    reader
        .take<uint64_t>();  // skipped: it follows from the rest, as does all that is not read here
    header.payload_bytes = reader.take<uint64_t>();
    header.kind = reader.take<RecordKind>();
    const auto n_tokens = reader.take<uint32_t>();
    header.group_mask = reader.take<uint32_t>();
    reader.take<uint32_t>();
    header.ns = reader.take<NamespaceKey>();
    header.parent = reader.take<BlockHash>();
    header.hash = reader.take<BlockHash>();
    reader.take<ChecksumValue>();
    if (header.offset != offset || n_tokens > shape.block_tokens) return {};
    for (uint32_t g = 0; g < shape.n_groups; ++g)
        header.sums.push_back(reader.take<ChecksumValue>());
    for (uint32_t i = 0; i < n_tokens; ++i) header.tokens.push_back(reader.take<TokenId>());
    if (!is_lawful(header, shape)) return {};
    std::array<std::byte, kMostRecordHeaderBytes> buffer;
    const auto again = std::span(buffer).first(bytes.size());
    encode(header, segment, again);
    if (!std::ranges::equal(again, bytes)) return {};
    if (header.hash != block_hash(header.ns, header.parent, header.tokens)) return {};
    return header;
}

}  // namespace kvik
