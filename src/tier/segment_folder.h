// SegmentFolder: the segment files that processes keep in one folder, and the quota over them.
//
// Shape   kv-<process>-<random>-<n>.seg, written by one process, read by all. Files with other
//         names are left alone.
// Owner   nothing but its count of bytes.
// Threads one at a time.
// Cost    list, count and a make_room that has to delete are O(files in the folder) system calls;
//         the others O(1).
// Invariant  a segment that a live process writes is locked by it, and is never deleted.
// Errors  a folder that vanishes is an empty one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tier/file_system.h"

namespace kvik {

struct FoundSegment {
    std::string name;
    uint64_t n_bytes = 0;
    int64_t last_use_ns = 0;  // since the epoch
};

bool is_segment_name(std::string_view name);

class SegmentFolder {
  public:
    SegmentFolder(std::string path, FileSystem& files) : path_(std::move(path)), files_(files) {}

    // Makes the folder, for its owner alone, if it is not there.
    Result<void> prepare() const;

    std::string path_of(const std::string& name) const { return path_ + "/" + name; }
    // Lists the segments, the longest unused first.
    std::vector<FoundSegment> list() const;
    uint64_t n_bytes() const { return n_bytes_; }  // when last counted, and what was added since
    void note_written(uint64_t n_bytes) { n_bytes_ += n_bytes; }
    void count();  // adds up the sizes of the files that are there

    // Deletes the segments that were unused longest until n_bytes more fit into quota_bytes, and
    // calls `deleted` with the name of each. False: those that are left are being written.
    bool make_room(uint64_t n_bytes, uint64_t quota_bytes,
                   const std::function<void(const std::string&)>& deleted);

  private:
    bool remove(const std::string& name) const;

    std::string path_;
    FileSystem& files_;
    uint64_t n_bytes_ = 0;
};

}  // namespace kvik
