#include "lab/replay.h"

#include <fmt/format.h>

#include "base/check.h"
#include "cache/block_pool.h"
#include "cache/prefix/prefix_cache.h"

namespace kvik::lab {
namespace {

constexpr double kTokenMs = 0.25;      // of a token without context
constexpr double kDepthTokens = 4000;  // before a token that make it take twice as long

uint32_t logical_blocks_for(size_t n_tokens, uint32_t block_tokens) {
    return static_cast<uint32_t>((n_tokens + block_tokens - 1) / block_tokens);
}

class Player {
  public:
    explicit Player(const ReplayOptions& options)
        : options_(options),
          pool_(options.n_blocks),
          tree_({.block_tokens = options.block_tokens,
                 .n_blocks = options.n_blocks,
                 .policy = options.policy,
                 .n_offloaded = options.n_blocks,
                 .recompute_ms = made_up_ms}) {}

    Result<void> play(const TraceRequest& request);
    ReplayResult result() const {
        ReplayResult out = result_;
        out.n_evicted_blocks = tree_.stats().evicted_blocks;
        return out;
    }

  private:
    Result<std::vector<BlockRef>> take(uint32_t n_new, PrefixHit& hit);

    ReplayOptions options_;
    BlockPool pool_;
    PrefixCache tree_;
    NamespaceKey ns_;
    ReplayResult result_;
};

// The blocks that the sequence writes into. The tail that it goes on from is read until it has been
// copied, so it is let go last.
Result<std::vector<BlockRef>> Player::take(uint32_t n_new, PrefixHit& hit) {
    if (pool_.n_free() < n_new) tree_.evict(n_new - pool_.n_free());
    if (pool_.n_free() < n_new && hit.tail_rows > 0) {
        hit.groups[0].blocks.pop_back();
        tree_.evict(n_new - pool_.n_free());
    }
    if (pool_.n_free() < n_new)
        return fail(ErrorKind::usage,
                    fmt::format("a request needs {} new blocks, of {} in all {} can be had: raise "
                                "their number",
                                n_new, options_.n_blocks, pool_.n_free()));
    std::vector<BlockRef> blocks;
    for (uint32_t i = 0; i < n_new; ++i) {
        auto block = pool_.take();
        KVIK_CHECK(block.has_value(), "a free block can be taken");
        blocks.push_back(std::move(*block));
    }
    return blocks;
}

Result<void> Player::play(const TraceRequest& request) {
    const auto n_prompt = static_cast<uint32_t>(request.prompt.size());
    tree_.set_clock(request.at_ms);
    PrefixHit hit = tree_.match(ns_, request.prompt);
    tree_.use(hit);
    result_.n_prompt_tokens += n_prompt;
    result_.n_hit_tokens += hit.n_tokens;
    result_.recompute_ms += made_up_ms(hit.n_tokens, n_prompt - hit.n_tokens);

    std::vector<TokenId> sequence = request.prompt;
    sequence.insert(sequence.end(), request.answer.begin(), request.answer.end() - 1);
    const uint32_t n_whole = hit.n_tokens / options_.block_tokens;
    const uint32_t n_logical_blocks = logical_blocks_for(sequence.size(), options_.block_tokens);
    KVIK_TRY(std::vector<BlockRef> own, take(n_logical_blocks - n_whole, hit));
    std::vector<BlockRef> blocks;
    for (uint32_t i = 0; i < n_whole; ++i) blocks.push_back(hit.groups[0].blocks[i].share());
    for (BlockRef& block : own) blocks.push_back(std::move(block));
    const GroupBlocks group{.first = 0, .refs = blocks};
    tree_.insert(ns_, sequence, std::span(&group, 1));
    return {};
}

}  // namespace

double made_up_ms(uint32_t depth, uint32_t n_tokens) {
    const double middle = depth + n_tokens / 2.0;
    return kTokenMs * n_tokens * (1 + middle / kDepthTokens);
}

uint32_t blocks_for_all(const Trace& trace, uint32_t block_tokens) {
    uint32_t n_blocks = 0;
    for (const TraceRequest& request : trace.requests)
        n_blocks += logical_blocks_for(request.prompt.size() + request.answer.size(), block_tokens);
    return n_blocks;
}

Result<ReplayResult> replay(const Trace& trace, const ReplayOptions& options) {
    Player player(options);
    for (const TraceRequest& request : trace.requests) KVIK_TRY_VOID(player.play(request));
    return player.result();
}

}  // namespace kvik::lab
