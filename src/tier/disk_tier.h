// DiskTier: keeps KV in files of one folder, where it is found again after a restart.
//
// Use     open(), then take_index() once: it gives what the folder holds. save() and take_saved()
//         write, read() and read_logits() read.
// Shape   save() -> queue -> writer thread -> a segment of this process. open() scans the headers
//         of all segments in the folder, whichever process wrote them. read() proves tokens and
//         checksum in the caller's buffer.
// Owner   its writer thread and open files; it borrows the bytes that are saved until their ticket
//         comes back.
// Threads save, take_* and flush from the engine's; read, has_gone and stats from any.
// Cost    open reads the headers of all records. save and take_* never wait for the disk. read and
//         read_logits read and check one payload on the calling thread. The destructor waits up to
//         5 seconds for saves.
// Effects the writer thread deletes segments, other models' too, to keep within the quota.
// Errors  open() alone: the folder is none and cannot be made. Whatever else fails, a full disk,
//         changed bytes, a deleted folder, is a miss and is counted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "cache/kv_keys.h"
#include "tier/file_system.h"
#include "tier/record_index.h"

namespace kvik {

struct DiskTierOptions {
    std::string folder;
    uint64_t quota_bytes = 0;    // over all that is in the folder, other models' KV too
    uint64_t segment_bytes = 0;  // 0: a sixteenth of the quota, at most 64 MiB
    uint64_t block_bytes = 0;
    uint32_t n_groups = 1;
    uint32_t block_tokens = 32;
    uint32_t n_queued = 512;  // most saves that wait
    // All that KV depends on but tokens and salt. Segments of another are left alone.
    std::string identity;
    FileSystem* files = &posix_files();  // outlives the tier
};

struct SaveRequest {
    uint64_t ticket = 0;
    NamespaceKey ns;
    BlockHash parent = {};
    std::vector<TokenId> tokens = {};  // [1 .. block_tokens]
    // (group, [block_bytes]), groups ascending. Borrowed until the ticket comes back.
    std::vector<std::pair<uint32_t, std::span<const std::byte>>> groups = {};
    // Instead of groups: the logits after the last of `tokens`. Borrowed alike.
    std::span<const float> logits = {};
};

struct SaveResult {
    uint64_t ticket = 0;
    TierRef ref = kNoTier;  // none: it was not written
    BlockHash hash = {};
};

struct DiskStats {
    uint64_t n_segments = 0;  // found at open
    uint64_t n_records = 0;   // usable: found at open, and written since
    uint64_t n_bytes = 0;     // in the folder, when last counted, and written since
    uint64_t n_reads = 0;     // that gave what was asked for
    uint64_t bytes_read = 0;  // of payloads, failed reads too
    uint64_t header_bytes_read = 0;
    uint64_t n_saves = 0;
    uint64_t bytes_written = 0;
    uint64_t n_gone_segments = 0;
    // Why something was not found or not kept.
    uint64_t n_foreign_segments = 0;  // another model, another version of kvik, another user's
    uint64_t n_damaged_segments = 0;  // at open: a header that is none
    uint64_t n_cut_segments = 0;      // at open: used up to a torn or damaged record
    uint64_t n_damaged_records = 0;   // at open: passed over, with sound ones behind
    uint64_t n_duplicates = 0;        // at open
    uint64_t n_orphans = 0;           // at open: the block before it is not there
    uint64_t n_lost_reads = 0;        // the segment is gone, or the disk refused
    uint64_t n_damaged_reads = 0;     // checksum
    uint64_t n_strange_reads = 0;     // sound, but other tokens, or without that group
    uint64_t n_failed_saves = 0;
    uint64_t n_refused_saves = 0;  // the queue was full
    int last_error = 0;            // errno of the last save that failed
};

class DiskTier {
  public:
    // Makes the folder if need be. A folder that cannot be written to is only read.
    static Result<std::unique_ptr<DiskTier>> open(const DiskTierOptions& options);
    ~DiskTier();
    DiskTier(const DiskTier&) = delete;
    DiskTier& operator=(const DiskTier&) = delete;

    // Returns what open() found: blocks, parents first, then logits. A second call gives nothing.
    std::vector<DiskRecord> take_index();

    // Queues a record to be written. False: the queue is full.
    bool save(SaveRequest save);
    // Returns the results of saves since the last call, in their order.
    std::vector<SaveResult> take_saved();

    // Reads the KV of one group into `to` [block_bytes]. False: a miss, as the record is gone,
    // damaged or not of these tokens; `to` may be anything.
    bool read(TierRef ref, uint32_t group, std::span<const TokenId> expected_tokens,
              std::span<std::byte> to);
    bool read_logits(TierRef ref, std::span<const TokenId> expected_tokens, std::span<float> to);

    // Returns how many segments were deleted since the last call; has_gone() is true of all records
    // in them.
    uint32_t take_gone_segments();
    bool has_gone(TierRef ref) const;

    // Waits until all that was saved is written. False: the deadline came first.
    bool flush(std::chrono::milliseconds most = std::chrono::seconds(30));

    DiskStats stats() const;

  private:
    struct Parts;
    explicit DiskTier(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

}  // namespace kvik
