#include "lab/hit_bound.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace kvik::lab {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

// Whole blocks by the path that leads to them.
class BlockNames {
  public:
    uint32_t name(uint32_t before, std::vector<TokenId> tokens) {
        const auto next = static_cast<uint32_t>(names_.size() + 1);
        return names_.try_emplace({before, std::move(tokens)}, next).first->second;
    }

  private:
    std::map<std::pair<uint32_t, std::vector<TokenId>>, uint32_t> names_;
};

std::vector<uint32_t> reads_of(const Trace& trace, uint32_t block_tokens) {
    BlockNames names;
    std::vector<uint32_t> reads;
    for (const TraceRequest& request : trace.requests) {
        std::vector<TokenId> sequence = request.prompt;
        sequence.insert(sequence.end(), request.answer.begin(), request.answer.end() - 1);
        uint32_t block = 0;
        for (size_t end = block_tokens; end <= sequence.size(); end += block_tokens) {
            const auto last = sequence.begin() + static_cast<std::ptrdiff_t>(end);
            block = names.name(block, {last - block_tokens, last});
            reads.push_back(block);
        }
    }
    return reads;
}

std::vector<uint64_t> next_reads(const std::vector<uint32_t>& reads) {
    std::vector<uint64_t> next(reads.size());
    std::map<uint32_t, uint64_t> seen;
    for (size_t i = reads.size(); i-- > 0;) {
        const auto [at, is_new] = seen.try_emplace(reads[i], kNever);
        next[i] = at->second;
        at->second = i;
    }
    return next;
}

uint64_t most_hit_blocks(const std::vector<uint32_t>& reads, uint32_t n_blocks) {
    const std::vector<uint64_t> next = next_reads(reads);
    std::set<std::pair<uint64_t, uint32_t>> kept;  // next read, block
    uint64_t n_hits = 0;
    for (size_t i = 0; i < reads.size(); ++i) {
        n_hits += kept.erase({i, reads[i]});
        if (next[i] != kNever) kept.emplace(next[i], reads[i]);
        if (kept.size() > n_blocks) kept.erase(std::prev(kept.end()));
    }
    return n_hits;
}

}  // namespace

Result<uint64_t> most_hit_tokens(const Trace& trace, uint32_t n_blocks, uint32_t block_tokens) {
    KVIK_TRY(const ReplayResult all, replay(trace, {.n_blocks = blocks_for_all(trace, block_tokens),
                                                    .block_tokens = block_tokens}));
    const uint64_t n_hits = most_hit_blocks(reads_of(trace, block_tokens), n_blocks);
    return std::min(all.n_hit_tokens,
                    n_hits * block_tokens + trace.requests.size() * (block_tokens - 1));
}

}  // namespace kvik::lab
