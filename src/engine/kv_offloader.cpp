#include "engine/kv_offloader.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace kvik {

static constexpr size_t kMostWaiting = 16;  // paths
// The share of the quota that one path may take: three of four parts.
static constexpr uint64_t kQuotaParts = 4, kPathParts = 3;
// A record that is lost changes a plan; so does making room for it, which may take away what it
// stands on. What cannot be had after so many is computed.
static constexpr uint32_t kMostPlans = 8;

KvOffloader::KvOffloader(std::unique_ptr<DiskTier> tier, const KvParts& parts)
    : parts_(parts), block_tokens_(parts.storage.spec().block_tokens), tier_(std::move(tier)) {
    add_index();
}

// What other processes and earlier ones left.
void KvOffloader::add_index() {
    std::map<BlockHash, NodeHandle> nodes;
    for (DiskRecord& record : tier_->take_index()) {
        if (record.kind == RecordKind::logits) {
            logits_[record.hash] = record.ref;
            continue;
        }
        std::optional<NodeHandle> parent;
        if (record.parent != kRootHash) {
            const auto at = nodes.find(record.parent);
            if (at == nodes.end()) continue;
            parent = at->second;
        }
        nodes[record.hash] = parts_.tree.add_offloaded(record.ns, parent, record.tokens, record.ref,
                                                       record.group_mask);
    }
}

// ---- to disk ----

void KvOffloader::save(const NamespaceKey& ns, std::span<const TokenId> tokens) {
    // The end of a path is of no use without its beginning, which would be deleted to make room.
    const KvSpec& spec = parts_.storage.spec();
    const uint64_t n_logical_blocks =
        parts_.quota_bytes / kQuotaParts * kPathParts / (spec.n_groups() * spec.block_bytes());
    tokens = tokens.first(std::min<uint64_t>(tokens.size(), n_logical_blocks * block_tokens_));
    if (tokens.empty()) return;
    Path path{ns, {tokens.begin(), tokens.end()}};
    if (waiting_.empty() && hand_over(path)) return;
    if (waiting_.size() == kMostWaiting)
        waiting_.pop_front();  // a later one takes its blocks along
    waiting_.push_back(std::move(path));
}

// False: the queue is full.
bool KvOffloader::hand_over(const Path& path) {
    for (SaveItem& item : parts_.tree.unsaved(path.ns, path.tokens)) {
        if (!hand_over(path.ns, std::move(item))) return false;
    }
    return true;
}

bool KvOffloader::hand_over(const NamespaceKey& ns, SaveItem item) {
    const BlockHash hash = item.hash;
    if (under_way_.contains(hash)) return true;
    SaveRequest save;
    save.ticket = next_ticket_;
    save.ns = ns;
    save.parent = item.parent_hash;
    BlockWrite write{.node = item.node, .n_tokens = static_cast<uint32_t>(item.tokens.size())};
    for (auto& [group, block] : item.blocks) {
        write.group_mask |= 1u << group;
        save.groups.emplace_back(group, parts_.storage.bytes(block.id()));
        write.blocks.push_back(std::move(block));
    }
    save.tokens = std::move(item.tokens);
    if (!tier_->save(std::move(save))) return false;
    under_way_.insert(hash);
    writes_.emplace(next_ticket_++, Write{hash, std::move(write)});
    return true;
}

void KvOffloader::save_logits(const NamespaceKey& ns, std::span<const TokenId> tokens,
                              std::span<const float> logits) {
    if (tokens.empty()) return;
    const EndHashes ends = parts_.tree.end_hashes(ns, tokens);
    if (logits_.contains(ends.hash)) return;
    LogitsWrite write{{logits.begin(), logits.end()}};
    const size_t begin = (tokens.size() - 1) / block_tokens_ * block_tokens_;
    SaveRequest save;
    save.ticket = next_ticket_;
    save.ns = ns;
    save.parent = ends.parent;
    save.tokens.assign(tokens.begin() + static_cast<std::ptrdiff_t>(begin), tokens.end());
    save.logits = write.row;
    if (!tier_->save(std::move(save))) return;
    writes_.emplace(next_ticket_++, Write{ends.hash, std::move(write)});
}

void KvOffloader::note(const SaveResult& saved) {
    const auto at = writes_.find(saved.ticket);
    KVIK_CHECK(at != writes_.end(), "a ticket comes back once");
    const Write& write = at->second;
    if (const auto* blocks = std::get_if<BlockWrite>(&write.what)) {
        under_way_.erase(write.hash);
        if (saved.ref != kNoTier)
            parts_.tree.note_saved(blocks->node, {saved.ref, blocks->group_mask, blocks->n_tokens});
    } else if (saved.ref != kNoTier) {
        logits_[write.hash] = saved.ref;
    }
    writes_.erase(at);
}

bool KvOffloader::poll() {
    for (const SaveResult& saved : tier_->take_saved()) note(saved);
    if (tier_->take_gone_segments() > 0) {
        parts_.tree.drop_tier([this](TierRef ref) { return tier_->has_gone(ref); });
        std::erase_if(logits_, [this](const auto& row) { return tier_->has_gone(row.second); });
    }
    while (!waiting_.empty() && hand_over(waiting_.front())) waiting_.pop_front();
    return !waiting_.empty() || !writes_.empty();
}

void KvOffloader::finish() {
    while (poll()) {
        if (!tier_->flush()) return;
    }
}

bool KvOffloader::release() {
    if (n_held() == 0) return false;
    tier_->flush();
    for (const SaveResult& saved : tier_->take_saved()) note(saved);
    return true;
}

uint64_t KvOffloader::n_held() const {
    uint64_t n = 0;
    for (const auto& [ticket, write] : writes_) {
        if (const auto* blocks = std::get_if<BlockWrite>(&write.what)) n += blocks->blocks.size();
    }
    return n;
}

// ---- from disk ----

// Null: there is no room.
std::optional<BlockRef> KvOffloader::take_block() {
    if (parts_.pool.n_free() == 0 && parts_.tree.evict(1) == 0 && release()) parts_.tree.evict(1);
    return parts_.pool.take();
}

// False: the plan is no longer what can be done.
bool KvOffloader::read(const LoadItem& item, BlockRef block, std::vector<BlockRef>& loaded) {
    if (!tier_->read(item.ref, item.group, item.tokens, parts_.storage.bytes(block.id()))) {
        parts_.tree.lose(item);
        return false;
    }
    if (!parts_.tree.load_back(item, block)) return false;
    loaded.push_back(std::move(block));
    return true;
}

// What was found and loaded is held until the end, so that making room takes nothing of it away. A
// record that is lost changes the plan; each is lost once.
std::vector<uint32_t> KvOffloader::load_back(const NamespaceKey& ns,
                                             std::span<const TokenId> tokens) {
    std::vector<uint32_t> block_indices;
    std::vector<BlockRef> loaded;
    const PrefixHit held = parts_.tree.match(ns, tokens);
    bool plan_changed = true;
    for (uint32_t n_plans = 0; plan_changed && n_plans < kMostPlans; ++n_plans) {
        plan_changed = false;
        const LoadPlan plan = parts_.tree.plan_load(ns, tokens);
        std::vector<BlockRef> blocks;
        while (blocks.size() < plan.items.size()) {
            std::optional<BlockRef> block = take_block();
            if (!block) break;
            blocks.push_back(std::move(*block));
        }
        for (size_t i = 0; i < blocks.size() && !plan_changed; ++i) {
            const LoadItem& item = plan.items[i];
            plan_changed = !read(item, std::move(blocks[i]), loaded);
            if (!plan_changed) block_indices.push_back(item.block_index);
        }
    }
    std::sort(block_indices.begin(), block_indices.end());
    block_indices.erase(std::unique(block_indices.begin(), block_indices.end()),
                        block_indices.end());
    load_logits(ns, tokens);
    return block_indices;
}

// So that a prompt that is cached to its end costs no step after a restart either.
void KvOffloader::load_logits(const NamespaceKey& ns, std::span<const TokenId> tokens) {
    const PrefixHit hit = parts_.tree.match(ns, tokens);
    if (hit.n_tokens < tokens.size() || !hit.logits.empty()) return;
    const auto at = logits_.find(parts_.tree.end_hashes(ns, tokens).hash);
    if (at == logits_.end()) return;
    std::vector<float> row(parts_.vocab_size);
    const size_t begin = (tokens.size() - 1) / block_tokens_ * block_tokens_;
    if (!tier_->read_logits(at->second, tokens.subspan(begin), row)) {
        logits_.erase(at);
        return;
    }
    parts_.tree.store_logits(ns, tokens, row);
}

}  // namespace kvik
