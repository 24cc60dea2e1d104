#include "cache/prefix/kv_residency.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace kvik {

KvResidency::KvResidency(const KvGroups* groups, uint32_t block_tokens, uint64_t max_nodes)
    : block_tokens_(block_tokens), windows_(1, 0) {
    if (groups) {
        windows_.clear();
        for (const KvGroup& group : groups->groups) windows_.push_back(group.window);
        n_full_ = static_cast<uint32_t>(std::ranges::count(windows_, 0u));
        widest_ = *std::ranges::max_element(windows_);
    }
    KVIK_CHECK(windows_.size() <= kMaxKvGroups, "a group is a bit of a mask");
    KVIK_CHECK(n_full_ > 0 && std::all_of(windows_.begin(), windows_.begin() + n_full_,
                                          [](uint32_t window) { return window == 0; }),
               "full groups come first, and there is one");
    blocks_.reserve(max_nodes * windows_.size());
    records_.reserve(max_nodes);
}

void KvResidency::add_slots(uint32_t n_slots) {
    while (blocks_.size() < size_t{n_slots} * n_groups()) blocks_.emplace_back();
    if (records_.size() < n_slots) records_.resize(n_slots);
}

// ---- blocks ----

void KvResidency::set_block(uint32_t node, uint32_t group, const BlockRef& ref, uint32_t n_rows) {
    NodeBlock& own = blocks_[at(node, group)];
    n_blocks_ += !own.ref;
    own.ref = ref.share();
    own.n_rows = n_rows;
}

void KvResidency::clear_block(uint32_t node, uint32_t group) {
    NodeBlock& own = blocks_[at(node, group)];
    n_blocks_ -= own.ref.has_value();
    own = {};
}

uint32_t KvResidency::n_blocks_of(uint32_t node) const {
    uint32_t n = 0;
    for (uint32_t g = 0; g < n_groups(); ++g) n += block(node, g).ref.has_value();
    return n;
}

uint32_t KvResidency::n_unshared_of(uint32_t node) const {
    uint32_t n = 0;
    for (uint32_t g = 0; g < n_groups(); ++g)
        n += block(node, g).ref && !block(node, g).ref->is_shared();
    return n;
}

bool KvResidency::has_window_block(uint32_t node) const {
    for (uint32_t g = n_full_; g < n_groups(); ++g)
        if (block(node, g).ref) return true;
    return false;
}

bool KvResidency::shares_window_block(uint32_t node) const {
    for (uint32_t g = n_full_; g < n_groups(); ++g)
        if (block(node, g).ref && block(node, g).ref->is_shared()) return true;
    return false;
}

uint32_t KvResidency::group_mask(uint32_t node, uint32_t n_tokens) const {
    uint32_t mask = 0;
    for (uint32_t g = 0; g < n_groups(); ++g)
        mask |= uint32_t{block(node, g).n_rows == n_tokens} << g;
    return mask;
}

void KvResidency::note_partly_loaded(uint32_t node) {
    if (std::ranges::find(partly_loaded_, node) == partly_loaded_.end())
        partly_loaded_.push_back(node);
}

void KvResidency::forget_partly_loaded(uint32_t node) {
    std::erase(partly_loaded_, node);
}

// ---- records on the tier ----

void KvResidency::set_record(uint32_t node, const TierRecord& record) {
    records_[node] = record;
}

bool KvResidency::is_on_tier(uint32_t node) const {
    const uint64_t full_mask = (uint64_t{1} << n_full_) - 1;
    return has_record(node) && (records_[node].group_mask & full_mask) == full_mask;
}

// ---- paths ----

uint32_t KvResidency::n_rows(uint32_t node, uint32_t group, KvState state, bool is_resident) const {
    const TierRecord& own = records_[node];
    const uint32_t in_ram = is_resident ? block(node, group).n_rows : 0;
    if (state == KvState::in_ram || (own.group_mask >> group & 1) == 0) return in_ram;
    return std::max(in_ram, own.n_tokens);
}

uint32_t KvResidency::usable_tokens(const PrefixPath& path, KvState state) const {
    std::array<uint32_t, kMaxKvGroups> run = {};  // blocks from here on, up to this one, are whole
    uint32_t usable = 0;
    for (uint32_t index = 0; index < path.nodes.size(); ++index) {
        const uint32_t node = path.nodes[index], begin = index * block_tokens_;
        const bool is_resident = index < path.n_resident;
        uint32_t rows = path.n_tokens - begin;
        for (uint32_t g = 0; g < n_groups(); ++g)
            rows = std::min(rows, n_rows(node, g, state, is_resident));
        bool is_usable = rows > 0;
        for (uint32_t g = 0; g < n_groups() && is_usable; ++g)
            is_usable = run[g] <= first_block(windows_[g], begin + rows);
        if (is_usable) usable = begin + std::min(rows, block_tokens_);
        for (uint32_t g = 0; g < n_groups(); ++g)
            if (n_rows(node, g, state, is_resident) < block_tokens_) run[g] = index + 1;
    }
    return usable;
}

// ---- accounts ----

uint64_t KvResidency::bytes_of(uint64_t max_nodes, uint64_t n_nodes, uint32_t n_groups) {
    return max_nodes * (sizeof(TierRecord) + n_groups * sizeof(NodeBlock)) +
           n_nodes * sizeof(uint32_t);  // partly_loaded_
}

void KvResidency::check_invariants() const {
    std::vector<BlockId> blocks;
    for (const NodeBlock& own : blocks_) {
        KVIK_CHECK(own.ref.has_value() == (own.n_rows > 0),
                   "a block counts as far as it is filled");
        if (own.ref) blocks.push_back(own.ref->id());
    }
    KVIK_CHECK(blocks.size() == n_blocks_, "every block is counted");
    std::ranges::sort(blocks);
    KVIK_CHECK(std::ranges::adjacent_find(blocks) == blocks.end(), "a block belongs to one node");
    for (const TierRecord& own : records_)
        KVIK_CHECK((own.ref == kNoTier) == (own.n_tokens == 0), "a record holds tokens");
}

}  // namespace kvik
