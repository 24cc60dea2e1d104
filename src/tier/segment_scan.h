// Reading a segment from its first byte to its last good record: payloads are jumped over.
//
// Threads  any; a segment may grow meanwhile.
// Invariant  records are visited in the order of their offsets, do not overlap, and end within the
//         file. Behind a header that is not what a writer would have written the scan looks, at
//         every multiple of 64, for the next that is: a header holds its own offset and a checksum.
// Cost    headers only, and what lies between a broken header and the next sound one.
#pragma once

#include <cstdint>
#include <functional>

#include "tier/disk_file.h"
#include "tier/record_layout.h"

namespace kvik {

enum class SegmentTail : uint8_t {
    none,     // the last record ends where the file does
    torn,     // the file ends inside a record: its writer was stopped, or is writing
    damaged,  // a whole header is there, and wrong, and no sound one behind it
    unread,   // the disk refused
};

struct SegmentEnd {
    SegmentTail tail = SegmentTail::none;
    uint64_t offset = 0;      // where the good part ends
    uint64_t file_bytes = 0;  // when the scan began
    uint32_t n_gaps = 0;      // stretches before it without a sound header
    uint64_t gap_bytes = 0;   // of all of them
};

// What cannot be read counts as damaged.
DecodedSegment read_segment_header(const DiskFile& file);

SegmentEnd scan_records(const DiskFile& file, const SegmentHeader& segment,
                        const std::function<void(RecordHeader&&)>& visit);

}  // namespace kvik
