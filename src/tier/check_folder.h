// check_folder reads every byte of the segments in a folder and says which are sound; with
// Repair::yes it also removes what is not.
//
// Shape   repair cuts torn tails off, and copies what is sound of a damaged segment into a new one
//         before it deletes it: bytes that somebody may have found are never replaced by others.
// Threads other processes may read and write the folder meanwhile; what one writes is only read.
// Cost    one pass over the folder; memory for one record.
// Errors  a folder that cannot be listed. Segments of an unknown version are left alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "tier/file_system.h"

namespace kvik {

enum class SegmentState : uint8_t {
    sound,
    torn,     // its last record was not finished: costs nothing but its bytes
    damaged,  // records whose header or payload is not what was written, or no segment header
    unknown,  // another version of kvik wrote it
    unread,   // the disk refused
    denied,   // of another user or group, who does not let others read it: no damage
};

enum class Repaired : uint8_t { no, cut, copied, deleted, failed, in_use };

struct CheckedSegment {
    std::string name;
    SegmentState state = SegmentState::sound;
    bool is_in_use = false;  // a live process writes it; its torn tail is a record on its way
    uint64_t n_bytes = 0;
    uint64_t n_records = 0;   // sound ones
    uint64_t n_damaged = 0;   // records with a payload, or stretches with headers, that are not
    uint64_t bytes_lost = 0;  // of these stretches, and behind the last sound header
    Repaired repaired = Repaired::no;
};

enum class Repair : uint8_t { no, yes };

Result<std::vector<CheckedSegment>> check_folder(const std::string& folder, Repair repair,
                                                 FileSystem& files = posix_files());

// Damage is there, and was not repaired.
bool is_damaged(const CheckedSegment& segment);

}  // namespace kvik
