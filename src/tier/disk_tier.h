// DiskTier: KV that is offloaded to files and is found again after a restart.
//
// Shape   save() -> queue -> writer thread -> own segment; open() scans the headers of all segments
//         in the folder, whoever wrote them; read() verifies tokens and checksum in the caller's
//         staging block, before anything live is touched.
// Owner   its segment files while it lives; never the bytes that are saved.
// Threads save, take_* and flush from the engine's; read and stats from any.
// Errors  only open() has some. Whatever else fails - a full disk, bytes that are not what they
//         were, the whole folder deleted meanwhile - is a miss, and counted.
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
#include "cache/block_hash.h"
#include "cache/namespace_key.h"
#include "cache/tier_ref.h"
#include "tier/disk_faults.h"
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
    DiskFaults* faults = nullptr;
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
    BlockHash id = {};
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
    uint64_t n_lost_reads = 0;        // the segment has gone, or the disk refused
    uint64_t n_damaged_reads = 0;     // checksum
    uint64_t n_strange_reads = 0;     // sound, but other tokens, or without that group
    uint64_t n_failed_saves = 0;
    uint64_t n_refused_saves = 0;  // the queue was full
    int last_error = 0;            // errno of the last save that failed
};

class DiskTier {
  public:
    // Fails if the folder is none and cannot be made. One that cannot be written to is read.
    static Result<std::unique_ptr<DiskTier>> open(const DiskTierOptions& options);
    ~DiskTier();
    DiskTier(const DiskTier&) = delete;
    DiskTier& operator=(const DiskTier&) = delete;

    // What open() found: blocks, parents first, then logits. Once.
    std::vector<DiskRecord> take_index();

    // False: the queue is full.
    bool save(SaveRequest save);
    std::vector<SaveResult> take_saved();

    // True: `to` [block_bytes] is the KV of that group, after the very tokens that were saved.
    // False: a miss; `to` may be anything.
    bool read(TierRef ref, uint32_t group, std::span<const TokenId> expected_tokens,
              std::span<std::byte> to);
    bool read_logits(TierRef ref, std::span<const TokenId> expected_tokens, std::span<float> to);

    // How many segments were deleted since last asked; has_gone() is true of all that is in them.
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
