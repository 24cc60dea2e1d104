#include "tier/segment_scan.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kvik {

DecodedSegment read_segment_header(const DiskFile& file) {
    SegmentHeaderBytes bytes = {};
    if (file.size().value_or(0) < bytes.size())
        return {.verdict = SegmentVerdict::cut, .header = {}};
    if (!file.read(0, bytes)) return {};
    return decode_segment(bytes);
}

SegmentEnd scan_records(const DiskFile& file, const SegmentHeader& segment,
                        const std::function<void(RecordHeader&&)>& visit) {
    const auto size = file.size();
    SegmentEnd end{.offset = kSegmentHeaderBytes,
                   .file_bytes = std::min(size.value_or(0), kMostSegmentBytes)};
    if (!size) {
        end.tail = SegmentTail::unread;
        return end;
    }
    std::array<std::byte, kMostRecordHeaderBytes> buffer;
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
            end.tail = SegmentTail::damaged;
            return end;
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
