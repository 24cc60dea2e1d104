// SegmentWriter appends records to a segment that this process alone writes. When that is full, was
// deleted by another process, or has a tail that could not be cut off, it goes on in a segment that
// no process writes any more, or in a new one. WriteBreaker pauses writing to a disk that fails.
//
// Owner   the open file and its lock; the bytes that it wrote stay on disk.
// Threads the writer's thread.
// Cost    append computes a checksum of the payloads and writes them; it lists the folder when a
//         segment begins or the quota is reached.
// Effects append deletes segments that were unused longest to keep within the quota.
// Errors  an errno; the segment then ends where it ended before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tier/segment_folder.h"
#include "tier/segment_reader.h"
#include "tier/segment_table.h"

namespace kvik {

struct SegmentWriterOptions {
    SegmentShape shape;
    Identity identity = {};
    uint64_t segment_bytes = 0;  // a segment is full before it is longer
    uint64_t quota_bytes = 0;    // over all segments in the folder
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
    // All that is borrowed outlives the writer.
    SegmentWriter(const SegmentWriterOptions& options, FileSystem& files, SegmentFolder& folder,
                  SegmentTable& table);

    // Gives the writer a segment to go on in. It does so only if no process writes it or has
    // written it since the scan.
    void offer(LeftSegment segment) { left_.push_back(std::move(segment)); }

    // header: kind, ns, parent, hash and tokens; the rest follows from the payloads, which come in
    // the order of their groups.
    Appended append(RecordHeader header, std::span<const Payload> payloads);

  private:
    struct Own {
        std::unique_ptr<DiskFile> file;
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
    FileSystem& files_;
    SegmentFolder& folder_;
    SegmentTable& table_;
    std::optional<Own> own_;
    std::vector<LeftSegment> left_;  // the last used last
    std::optional<uint64_t> name_;   // in the names of all that it begins
    uint32_t n_begun_ = 0;
};

// Makes writes to a failing disk rarer and rarer, until one succeeds.
// After the n-th failure in a row the next 2^n saves, at most 1024, are not tried. It counts and
// has no clock, so that what happens is a function of the calls alone. All calls are O(1).
class WriteBreaker {
  public:
    static constexpr uint32_t kMostPassed = 1024;

    bool lets_through() {
        if (n_to_pass_ == 0) return true;
        --n_to_pass_;
        return false;
    }
    void note_failure() {
        pause_ = std::min(2 * pause_, kMostPassed);
        n_to_pass_ = pause_;
    }
    void note_success() { pause_ = 1; }

  private:
    uint32_t pause_ = 1;
    uint32_t n_to_pass_ = 0;
};

}  // namespace kvik
