// Reading one record of a segment: its header, and payloads held against their checksums.
//
// Threads any.
// Cost    a payload is checked in pieces that are still in the core's cache after they were read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tier/disk_file.h"
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

}  // namespace kvik
