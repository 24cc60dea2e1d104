#include "tier/segment_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

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

// ---- a whole segment ----

DecodedSegment read_segment_header(const DiskFile& file) {
    SegmentHeaderBytes bytes = {};
    if (file.size().value_or(0) < bytes.size())
        return {.verdict = SegmentVerdict::cut, .header = {}};
    if (!file.read(0, bytes)) return {};
    return decode_segment(bytes);
}

namespace {

constexpr uint64_t kScanBytes = uint64_t{1} << 18;

using HeaderBuffer = std::array<std::byte, kMostRecordHeaderBytes>;

// Returns the first record from `offset` on, at any multiple of 64, whose header is sound and which
// ends within the file.
std::optional<RecordHeader> next_record(const DiskFile& file, const SegmentHeader& segment,
                                        uint64_t offset, uint64_t file_bytes) {
    std::vector<std::byte> piece;
    HeaderBuffer buffer;
    const std::span<std::byte> bytes = std::span(buffer).first(segment.shape.record_header_bytes());
    for (; offset + bytes.size() <= file_bytes; offset += piece.size()) {
        piece.resize(std::min(kScanBytes, (file_bytes - offset) / kRecordAlign * kRecordAlign));
        if (!file.read(offset, piece)) return {};
        for (uint64_t at = 0; at < piece.size(); at += kRecordAlign) {
            const uint64_t begin = offset + at;
            if (!may_be_record(std::span(piece).subspan(at), begin)) continue;
            if (file_bytes - begin < bytes.size() || !file.read(begin, bytes)) return {};
            auto record = decode_record(segment, begin, bytes);
            if (record && record->end(segment.shape) <= file_bytes) return record;
        }
    }
    return {};
}

}  // namespace

SegmentEnd scan_records(const DiskFile& file, const SegmentHeader& segment,
                        const std::function<void(RecordHeader&&)>& visit) {
    const auto size = file.size();
    SegmentEnd end{.offset = kSegmentHeaderBytes,
                   .file_bytes = std::min(size.value_or(0), kMostSegmentBytes)};
    if (!size) {
        end.tail = SegmentTail::unread;
        return end;
    }
    HeaderBuffer buffer;
    const std::span<std::byte> bytes = std::span(buffer).first(segment.shape.record_header_bytes());
    while (end.offset < end.file_bytes) {
        if (end.file_bytes - end.offset < bytes.size()) {
            end.tail = SegmentTail::torn;
            return end;
        }
        if (!file.read(end.offset, bytes)) {
            end.tail = SegmentTail::unread;
            return end;
        }
        auto record = decode_record(segment, end.offset, bytes);
        if (!record) {
            record = next_record(file, segment, end.offset + kRecordAlign, end.file_bytes);
            if (!record) {
                end.tail = SegmentTail::damaged;
                return end;
            }
            ++end.n_gaps;
            end.gap_bytes += record->offset - end.offset;
        }
        const uint64_t next = record->end(segment.shape);
        if (next > end.file_bytes) {
            end.tail = SegmentTail::torn;
            return end;
        }
        visit(std::move(*record));
        end.offset = next;
    }
    return end;
}

}  // namespace kvik
