// SegmentWriter appends records to a segment of this process's own. When that is full, deleted by
// somebody, or has a tail that could not be cut off, it goes on in one that nobody writes any more,
// or in a new one.
//
// Owner   the open file and its lock; what it wrote stays.
// Threads the writer's thread.
// Errors  an errno; the segment then ends where it ended before.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tier/segment_folder.h"
#include "tier/segment_scan.h"
#include "tier/segment_table.h"

namespace kvik {

struct SegmentWriterOptions {
    SegmentShape shape;
    Identity identity = {};
    uint64_t segment_bytes = 0;  // a segment is full before it is longer
    uint64_t quota_bytes = 0;    // over all segments in the folder
    DiskFaults* faults = nullptr;
};

// A segment that another process left, as a scan found it.
struct LeftSegment {
    uint32_t number = 0;
    std::string path;
    SegmentHeader header;
    SegmentEnd end;
};

struct Payload {
    uint32_t group = 0;
    std::span<const std::byte> bytes;
};

struct Appended {
    TierRef ref = kNoTier;
    int error = 0;  // ENOSPC: the quota has no room either
    uint64_t n_bytes = 0;
};

class SegmentWriter {
  public:
    SegmentWriter(const SegmentWriterOptions& options, SegmentFolder& folder, SegmentTable& table);

    // Used only if nobody writes it, and nobody has written it since the scan.
    void offer(LeftSegment segment) { left_.push_back(std::move(segment)); }

    // header: kind, ns, parent, id and tokens; the rest follows from the payloads, which come in
    // the order of their groups.
    Appended append(RecordHeader header, std::span<const Payload> payloads);

  private:
    struct Own {
        DiskFile file;
        SegmentHeader header;
        uint32_t number;
        uint64_t n_bytes;
    };

    int try_append(const RecordHeader& header, std::span<const Payload> payloads);
    int begin(uint64_t n_bytes);
    bool go_on_in(const LeftSegment& segment);
    int make_segment();
    int write(Own& own, const RecordHeader& header, std::span<const Payload> payloads);
    bool make_room(uint64_t n_bytes, uint64_t quota_bytes);

    SegmentWriterOptions options_;
    SegmentFolder& folder_;
    SegmentTable& table_;
    std::optional<Own> own_;
    std::vector<LeftSegment> left_;  // the last used last
    std::optional<uint64_t> name_;   // in the names of all that it begins
    uint32_t n_begun_ = 0;
};

}  // namespace kvik
