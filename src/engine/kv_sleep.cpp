#include "engine/kv_sleep.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace kvik {

static constexpr size_t kMostWaiting = 16;  // paths
// The share of the quota that one path may take: three of four parts.
static constexpr uint64_t kQuotaParts = 4, kPathParts = 3;
// A record that is lost changes a plan; so does making room for it, which may take away what it stands
// on. What cannot be had after so many is computed.
static constexpr uint32_t kMostPlans = 8;

KvSleep::KvSleep(std::unique_ptr<DiskTier> tier, const KvParts& parts)
    : parts_(parts), block_tokens_(parts.storage.spec().block_tokens), tier_(std::move(tier)) {
    add_index();
}

// What other processes and earlier ones left.
void KvSleep::add_index() {
    std::map<ChainId, NodeHandle> nodes;
    for (DiskRecord& record : tier_->take_index()) {
        if (record.kind == RecordKind::logits) {
            logits_[record.id] = record.ref;
            continue;
        }
        std::optional<NodeHandle> parent;
        if (record.parent != kRootChain) {
            const auto at = nodes.find(record.parent);
            if (at == nodes.end()) continue;
            parent = at->second;
        }
        nodes[record.id] = parts_.tree.add_sleeping(record.ns, parent, record.tokens, record.ref,
                                                    record.group_mask);
    }
}

// The id of each place of the path.
std::vector<ChainId> KvSleep::chain_of(const NamespaceKey& ns,
                                       std::span<const TokenId> tokens) const {
    std::vector<ChainId> chain;
    for (size_t at = 0; at < tokens.size(); at += block_tokens_) {
        const ChainId parent = chain.empty() ? kRootChain : chain.back();
        chain.push_back(chain_id(
            ns, parent, tokens.subspan(at, std::min<size_t>(block_tokens_, tokens.size() - at))));
    }
    return chain;
}

// ---- to disk ----

void KvSleep::save(const NamespaceKey& ns, std::span<const TokenId> tokens) {
    // The end of a path is of no use without its beginning, which would be deleted to make room.
    const KvSpec& spec = parts_.storage.spec();
    const uint64_t n_places =
        parts_.quota_bytes / kQuotaParts * kPathParts / (spec.n_groups() * spec.block_bytes());
    tokens = tokens.first(std::min<uint64_t>(tokens.size(), n_places * block_tokens_));
    if (tokens.empty()) return;
    Path path{ns, {tokens.begin(), tokens.end()}};
    if (waiting_.empty() && hand_over(path)) return;
    if (waiting_.size() == kMostWaiting)
        waiting_.pop_front();  // a later one takes its blocks along
    waiting_.push_back(std::move(path));
}

// False: the queue is full.
bool KvSleep::hand_over(const Path& path) {
    const std::vector<ChainId> chain = chain_of(path.ns, path.tokens);
    for (SaveItem& item : parts_.tree.unsaved(path.ns, path.tokens)) {
        if (!hand_over(path, chain, std::move(item))) return false;
    }
    return true;
}

bool KvSleep::hand_over(const Path& path, const std::vector<ChainId>& chain, SaveItem item) {
    Save save;
    save.ticket = next_ticket_;
    save.ns = path.ns;
    if (item.place > 0) save.parent = chain[item.place - 1];
    const ChainId id = chain_id(path.ns, save.parent, item.tokens);
    if (under_way_.contains(id)) return true;
    BlockWrite write{.node = item.node, .n_tokens = static_cast<uint32_t>(item.tokens.size())};
    for (auto& [group, block] : item.blocks) {
        write.group_mask |= 1u << group;
        save.groups.emplace_back(group, parts_.storage.bytes(block.id()));
        write.blocks.push_back(std::move(block));
    }
    save.tokens = std::move(item.tokens);
    if (!tier_->save(std::move(save))) return false;
    under_way_.insert(id);
    writes_.emplace(next_ticket_++, Write{id, std::move(write)});
    return true;
}

void KvSleep::save_logits(const NamespaceKey& ns, std::span<const TokenId> tokens,
                          std::span<const float> logits) {
    if (tokens.empty()) return;
    const std::vector<ChainId> chain = chain_of(ns, tokens);
    if (logits_.contains(chain.back())) return;
    LogitsWrite write{{logits.begin(), logits.end()}};
    const size_t begin = (tokens.size() - 1) / block_tokens_ * block_tokens_;
    Save save;
    save.ticket = next_ticket_;
    save.ns = ns;
    if (chain.size() > 1) save.parent = chain[chain.size() - 2];
    save.tokens.assign(tokens.begin() + static_cast<std::ptrdiff_t>(begin), tokens.end());
    save.logits = write.row;
    if (!tier_->save(std::move(save))) return;
    writes_.emplace(next_ticket_++, Write{chain.back(), std::move(write)});
}

void KvSleep::note(const Saved& saved) {
    const auto at = writes_.find(saved.ticket);
    KVIK_CHECK(at != writes_.end(), "a ticket comes back once");
    const Write& write = at->second;
    if (const auto* blocks = std::get_if<BlockWrite>(&write.what)) {
        under_way_.erase(write.id);
        if (saved.ref != kNoTier)
            parts_.tree.note_saved(blocks->node, saved.ref, blocks->group_mask, blocks->n_tokens);
    } else if (saved.ref != kNoTier) {
        logits_[write.id] = saved.ref;
    }
    writes_.erase(at);
}

bool KvSleep::poll() {
    for (const Saved& saved : tier_->take_saved()) note(saved);
    if (tier_->take_gone_segments() > 0) {
        parts_.tree.drop_tier([this](TierRef ref) { return tier_->has_gone(ref); });
        std::erase_if(logits_, [this](const auto& row) { return tier_->has_gone(row.second); });
    }
    while (!waiting_.empty() && hand_over(waiting_.front())) waiting_.pop_front();
    return !waiting_.empty() || !writes_.empty();
}

void KvSleep::finish() {
    while (poll()) {
        if (!tier_->flush()) return;
    }
}

bool KvSleep::let_go() {
    if (n_held() == 0) return false;
    tier_->flush();
    for (const Saved& saved : tier_->take_saved()) note(saved);
    return true;
}

uint64_t KvSleep::n_held() const {
    uint64_t n = 0;
    for (const auto& [ticket, write] : writes_) {
        if (const auto* blocks = std::get_if<BlockWrite>(&write.what)) n += blocks->blocks.size();
    }
    return n;
}

// ---- from disk ----

// Null: there is no room.
std::optional<BlockRef> KvSleep::take_block() {
    if (parts_.pool.n_free() == 0 && parts_.tree.evict(1) == 0 && let_go()) parts_.tree.evict(1);
    return parts_.pool.take();
}

// False: the plan is no longer what can be done.
bool KvSleep::read(const WakeItem& item, BlockRef block, std::vector<BlockRef>& woken) {
    if (!tier_->read(item.ref, item.group, item.tokens, parts_.storage.bytes(block.id()))) {
        parts_.tree.lose(item);
        return false;
    }
    if (!parts_.tree.wake(item, block)) return false;
    woken.push_back(std::move(block));
    return true;
}

// What was found and woken is held until the end, so that making room takes nothing of it away. A
// record that is lost changes the plan; each is lost once.
std::vector<uint32_t> KvSleep::wake(const NamespaceKey& ns, std::span<const TokenId> tokens) {
    std::vector<uint32_t> places;
    std::vector<BlockRef> woken;
    const PrefixHit held = parts_.tree.find(ns, tokens);
    bool plan_changed = true;
    for (uint32_t n_plans = 0; plan_changed && n_plans < kMostPlans; ++n_plans) {
        plan_changed = false;
        const WakePlan plan = parts_.tree.plan_wake(ns, tokens);
        std::vector<BlockRef> blocks;
        while (blocks.size() < plan.items.size()) {
            std::optional<BlockRef> block = take_block();
            if (!block) break;
            blocks.push_back(std::move(*block));
        }
        for (size_t i = 0; i < blocks.size() && !plan_changed; ++i) {
            const WakeItem& item = plan.items[i];
            plan_changed = !read(item, std::move(blocks[i]), woken);
            if (!plan_changed) places.push_back(item.place);
        }
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    wake_logits(ns, tokens);
    return places;
}

// So that a prompt that is cached to its end costs no step after a restart either.
void KvSleep::wake_logits(const NamespaceKey& ns, std::span<const TokenId> tokens) {
    const PrefixHit hit = parts_.tree.find(ns, tokens);
    if (hit.n_tokens < tokens.size() || !hit.logits.empty()) return;
    const std::vector<ChainId> chain = chain_of(ns, tokens);
    const auto at = logits_.find(chain.back());
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
