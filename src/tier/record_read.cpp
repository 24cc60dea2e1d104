#include "tier/record_read.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kvik {
namespace {

constexpr size_t kPieceBytes = size_t{128} << 10;

}  // namespace

ReadHeader read_record_header(const DiskFile& file, const SegmentHeader& segment, uint64_t offset) {
    std::array<std::byte, kMostRecordHeaderBytes> buffer;
    const auto bytes = std::span(buffer).first(segment.shape.record_header_bytes());
    if (!file.read(offset, bytes)) return {};
    auto header = decode_record(segment, offset, bytes);
    if (!header) return {.verdict = ReadVerdict::damaged, .header = {}};
    return {.verdict = ReadVerdict::sound, .header = std::move(*header)};
}

ReadVerdict read_payload(const DiskFile& file, const SegmentHeader& segment,
                         const RecordHeader& record, uint32_t group, std::span<std::byte> to) {
    Checksum sum(segment.salt);
    uint64_t at = record.payload_offset(segment.shape, group);
    while (!to.empty()) {
        const auto piece = to.first(std::min(to.size(), kPieceBytes));
        if (!file.read(at, piece)) return ReadVerdict::lost;
        sum.update(piece);
        at += piece.size();
        to = to.subspan(piece.size());
    }
    return sum.value() == record.sums[group] ? ReadVerdict::sound : ReadVerdict::damaged;
}

}  // namespace kvik
