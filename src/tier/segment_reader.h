// Reading a segment: scan_records visits the headers of all its records, read_payload proves the
// bytes of one of them.
//
// Use     read_segment_header() first; what it gives is needed for everything else. A scan jumps
//         over payloads.
// Threads any; a segment may grow meanwhile.
// Invariant scan_records visits records in the order of their offsets; they do not overlap, and end
//         within the file. Behind a header that no writer would have written it looks, at every
//         multiple of 64, for the next sound one: a header holds its own offset and a checksum.
// Cost    a scan reads headers only, and what lies between a broken header and the next sound one.
//         A payload is checked in pieces that are still in the core's cache after they were read.
// Errors  a ReadVerdict or SegmentTail; what cannot be read counts as damaged or lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "tier/file_system.h"
#include "tier/record_layout.h"

namespace kvik {

enum class ReadVerdict : uint8_t {
    sound,
    damaged,  // not what was written
    lost,     // the disk refused, or the file ends before
};

struct ReadHeader {
    ReadVerdict verdict = ReadVerdict::lost;
    RecordHeader header;
};

ReadHeader read_record_header(const DiskFile& file, const SegmentHeader& segment, uint64_t offset);

// to: [payload_bytes]; anything may be in it unless the payload is sound.
ReadVerdict read_payload(const DiskFile& file, const SegmentHeader& segment,
                         const RecordHeader& record, uint32_t group, std::span<std::byte> to);

// ---- a whole segment ----

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
