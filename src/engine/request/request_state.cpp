#include "engine/request/request_state.h"

namespace kvik {

void BlockCensus::begin() {
    ++count_;
    n_blocks_ = n_held_ = 0;
}

void BlockCensus::add(const BlockTable& table) {
    for (uint32_t g = 0; g < table.n_groups(); ++g) add(table.group_blocks(g).refs);
}

void BlockCensus::add(const PrefixHit& hit) {
    for (const GroupRefs& group : hit.groups) add(group.blocks);
}

void BlockCensus::add(const RequestState& request) {
    request.for_each_sequence([this](const Sequence& sequence) { add(sequence.table()); });
}

void BlockCensus::add(std::span<const BlockRef> blocks) {
    n_held_ += static_cast<uint32_t>(blocks.size());
    for (const BlockRef& block : blocks) {
        uint64_t& counted_in = counted_in_[static_cast<uint32_t>(block.id())];
        n_blocks_ += counted_in != count_;
        counted_in = count_;
    }
}

// Returns how many blocks the request's sequences would hold if none were shared. The prompt
// sequence of beams does not count: without sharing each beam would hold the prompt itself.
static uint32_t n_unshared_blocks(const RequestState& request) {
    if (!request.computes_beams()) return request.sequence.table().n_blocks();
    uint32_t n = 0;
    for (uint32_t i = 0; i < request.beams->n_beams(); ++i)
        n += request.beams->sequence(i).table().n_blocks();
    return n;
}

void count_group_blocks(std::span<const std::unique_ptr<RequestState>> requests,
                        BlockCensus& census) {
    for (size_t i = 0; i < requests.size(); ++i) {
        SequenceGroup* group = requests[i]->group.get();
        if (!group) continue;
        const auto is_member = [group](const auto& other) { return other->group.get() == group; };
        if (std::any_of(requests.begin(), requests.begin() + i, is_member))
            continue;  // was counted
        census.begin();
        uint32_t n_unshared = 0;
        for (const auto& other : requests.subspan(i)) {
            if (!is_member(other)) continue;
            census.add(*other);
            n_unshared += n_unshared_blocks(*other);
        }
        group->note(census.n_blocks(), n_unshared);
    }
}

}  // namespace kvik
