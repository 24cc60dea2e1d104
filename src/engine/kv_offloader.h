// KvOffloader: keeps the prefix tree and the disk tier in step: what was published goes to disk
// behind the steps' back, what a prompt needs comes back into blocks before it is computed.
//
// Owner   the tier, and shares of the blocks that are being written. Borrows tree, pool, storage.
// Threads the engine thread; the tier writes on its own.
// Cost    save hands over block addresses and copies no KV; load_back reads and checks the blocks
//         that it needs, at the speed of memory where the file is in the page cache.
// Invariant a block is read into one that nobody else has and enters the tree only when its
//           checksum
//         and its tokens were proved: whatever the disk holds is a miss at worst.
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

    // What of the path of `tokens` is in RAM and not on disk is to be written; of a path longer
    // than the quota holds, its first part.
    void save(const NamespaceKey& ns, std::span<const TokenId> tokens);
    // And these logits after the last of them.
    void save_logits(const NamespaceKey& ns, std::span<const TokenId> tokens,
                     std::span<const float> logits);

    // Takes note of what has been written and hands over what waited. True: something is still
    // under way.
    bool poll();
    void finish();  // waits for it, some seconds at most
    // Waits until no block is held by a write any more. False: none was.
    bool release();

    // Brings back what makes more of `tokens` usable; evicts for it where there is no room. Which
    // logical blocks had to be read, in order.
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
        BlockHash id = {};
        std::variant<BlockWrite, LogitsWrite> what;
    };

    std::vector<BlockHash> chain_of(const NamespaceKey& ns, std::span<const TokenId> tokens) const;
    bool hand_over(const Path& path);
    bool hand_over(const Path& path, const std::vector<BlockHash>& chain, SaveItem item);
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
