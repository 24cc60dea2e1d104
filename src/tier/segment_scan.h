// Reading a segment from its first byte to its last good record: headers only, payloads are jumped
// over.
//
// Threads  any; a segment may grow meanwhile.
// Invariant  records are visited in the order of their offsets, lie behind one another without a
//         gap, and end within the file. The first header that is not what a writer would have
//         written ends the scan: what lies behind it belongs to nobody.
#pragma once

#include <cstdint>
#include <functional>

#include "tier/disk_file.h"
#include "tier/record_layout.h"

namespace kvik {

enum class SegmentTail : uint8_t {
    none,     // the last record ends where the file does
    torn,     // the file ends inside a record: its writer was stopped, or is writing
    damaged,  // a whole header is there, and wrong
    unread,   // the disk refused
};

struct SegmentEnd {
    SegmentTail tail = SegmentTail::none;
    uint64_t offset = 0;      // where the good part ends
    uint64_t file_bytes = 0;  // when the scan began
};

// What cannot be read counts as damaged.
DecodedSegment read_segment_header(const DiskFile& file);

SegmentEnd scan_records(const DiskFile& file, const SegmentHeader& segment,
                        const std::function<void(RecordHeader&&)>& visit);

}  // namespace kvik
