// SegmentTable: the segments that this process knows, by number, and their open files.
//
// Shape   a TierRef is (number + 1) * 2^34 + offset / 64: a number is never used for a second file.
// Threads any; a lock is held for look-ups and while a file is opened, not while one is read.
// Cost    at most kMostOpen descriptors; a segment that is not among them is opened again. open and
//         note_gone by path are linear in kMostOpen and in the segments, the others O(1).
// Owner   the open files; an OpenSegment shares one, so that it stays open while it is read.
// Invariant a segment that was not there once counts as gone from then on.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cache/kv_keys.h"
#include "tier/file_system.h"
#include "tier/record_layout.h"

namespace kvik {

TierRef tier_ref(uint32_t segment, uint64_t offset);
uint32_t segment_of(TierRef ref);
uint64_t offset_of(TierRef ref);

struct OpenSegment {
    std::shared_ptr<const DiskFile> file;
    SegmentHeader header;
};

class SegmentTable {
  public:
    static constexpr size_t kMostOpen = 64;

    explicit SegmentTable(FileSystem& files) : files_(files) {}

    uint32_t add(const std::string& path, const SegmentHeader& header);
    std::optional<OpenSegment> open(uint32_t number);  // nothing: a miss
    void note_gone(const std::string& path);
    void note_gone(uint32_t number);
    bool has_gone(uint32_t number) const;
    uint32_t take_gone();  // how many went since the last call

  private:
    struct Segment {
        std::string path;
        SegmentHeader header;
        bool gone = false;
        bool used = false;
    };
    using Opened = std::pair<uint32_t, std::shared_ptr<const DiskFile>>;

    void lose(uint32_t number);

    FileSystem& files_;
    mutable std::mutex mutex_;
    std::vector<Segment> segments_;
    std::list<Opened> opened_;  // the last used first
    uint32_t n_gone_ = 0;
};

}  // namespace kvik
