#include "tier/record_index.h"

#include <bit>
#include <unordered_map>
#include <utility>

namespace kvik {
namespace {

struct ByHash {
    size_t operator()(const BlockHash& hash) const { return hash[0]; }  // a digest already
};

// Returns the best record of each block, by block hash: the one with most groups, and of equals the
// later, which was written because the earlier could not be read.
std::unordered_map<BlockHash, size_t, ByHash> best_of(const std::vector<DiskRecord>& found,
                                                      RecordKind kind, uint64_t& n_duplicates) {
    std::unordered_map<BlockHash, size_t, ByHash> best;
    for (size_t i = 0; i < found.size(); ++i) {
        if (found[i].kind != kind) continue;
        const auto [at, is_new] = best.try_emplace(found[i].hash, i);
        if (is_new) continue;
        ++n_duplicates;
        if (std::popcount(found[i].group_mask) >= std::popcount(found[at->second].group_mask))
            at->second = i;
    }
    return best;
}

}  // namespace

OrderedRecords parents_first(std::vector<DiskRecord> found) {
    OrderedRecords ordered;
    const auto blocks = best_of(found, RecordKind::kv, ordered.n_duplicates);
    const auto logits = best_of(found, RecordKind::logits, ordered.n_duplicates);
    std::unordered_multimap<BlockHash, size_t, ByHash> children;
    for (const auto& [hash, at] : blocks) children.emplace(found[at].parent, at);
    std::vector<BlockHash> level = {kRootHash};
    size_t n_placed = 0;
    while (!level.empty()) {
        std::vector<BlockHash> next;
        for (const BlockHash& parent : level) {
            const auto [begin, end] = children.equal_range(parent);
            for (auto child = begin; child != end; ++child) {
                next.push_back(found[child->second].hash);
                ordered.records.push_back(std::move(found[child->second]));
                ++n_placed;
            }
        }
        level = std::move(next);
    }
    for (const auto& [hash, at] : logits) ordered.records.push_back(std::move(found[at]));
    ordered.n_orphans = blocks.size() - n_placed;
    return ordered;
}

}  // namespace kvik
