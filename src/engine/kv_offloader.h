// KvOffloader: keeps the prefix cache and the disk tier in step. What was published is written to
// disk while steps go on; what a prompt needs is read back into blocks before it is computed.
//
// Use     save() and save_logits() after publishing, load_back() before a prompt is matched, poll()
//         between steps.
// Owner   the tier, and shares of the blocks that are being written. Borrows cache, pool, storage.
// Threads the engine thread; the tier has a writer thread of its own.
// Cost    save is linear in the tokens; it hands over block addresses and copies no KV. load_back
//         reads and checks the blocks that it needs, at the speed of memory where the file is in
//         the page cache. finish and release wait for the disk.
// Invariant a block is read into one that nobody else has, and enters the prefix cache only when
//           its
//         checksum and its tokens were proved: whatever the disk holds is a miss at worst.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <variant>
#include <vector>

#include "cache/kv_storage.h"
#include "cache/prefix/prefix_cache.h"
#include "tier/disk_tier.h"

namespace kvik {

struct KvParts {
    BlockPool& pool;
    KvStorage& storage;
    PrefixCache& tree;
    uint32_t vocab_size = 0;
    uint64_t quota_bytes = 0;  // of the tier
};

class KvOffloader {
  public:
    KvOffloader(std::unique_ptr<DiskTier> tier, const KvParts& parts);

    // Queues what of the path of `tokens` is in RAM and not on disk to be written; of a path longer
    // than the quota holds, only its first part.
    void save(const NamespaceKey& ns, std::span<const TokenId> tokens);
    // Queues the logits after the last of `tokens` to be written.
    void save_logits(const NamespaceKey& ns, std::span<const TokenId> tokens,
                     std::span<const float> logits);

    // Notes what has been written and hands over what waited for room in the queue. True: something
    // is still being written.
    bool poll();
    void finish();  // waits until all is written, some seconds at most
    // Waits until no block is held by a write any more. False: none was held.
    bool release();

    // Loads the blocks that make more of `tokens` usable, and evicts others where there is no room.
    // Returns the indices of the blocks that were read, in order.
    std::vector<uint32_t> load_back(const NamespaceKey& ns, std::span<const TokenId> tokens);

    uint64_t n_held() const;  // blocks that are being written, each as often as it is held
    DiskStats stats() const { return tier_->stats(); }

  private:
    struct Path {
        NamespaceKey ns;
        std::vector<TokenId> tokens;
    };
    struct BlockWrite {
        NodeHandle node;
        uint32_t group_mask = 0, n_tokens = 0;
        std::vector<BlockRef> blocks = {};
    };
    struct LogitsWrite {
        std::vector<float> row;
    };
    struct Write {
        BlockHash hash = {};
        std::variant<BlockWrite, LogitsWrite> what;
    };

    bool hand_over(const Path& path);
    bool hand_over(const NamespaceKey& ns, SaveItem item);
    void note(const SaveResult& saved);
    std::optional<BlockRef> take_block();
    bool read(const LoadItem& item, BlockRef block, std::vector<BlockRef>& loaded);
    void load_logits(const NamespaceKey& ns, std::span<const TokenId> tokens);
    void add_index();

    KvParts parts_;
    uint32_t block_tokens_;
    uint64_t next_ticket_ = 1;
    std::map<uint64_t, Write> writes_;     // by ticket
    std::set<BlockHash> under_way_;        // of blocks
    std::deque<Path> waiting_;             // the queue was full
    std::map<BlockHash, TierRef> logits_;  // rows on disk, by what they come after
    std::unique_ptr<DiskTier> tier_;       // last: until it is gone it may read what writes_ holds
};

}  // namespace kvik
