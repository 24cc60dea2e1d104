#include "engine/costs/step_timer.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace kvik {
namespace {

constexpr uint32_t kMostPointRows = std::max(StepCosts::kTokens.back(), StepCosts::kChunks.back());

uint32_t blocks_for(uint32_t n_tokens, uint32_t block_tokens) {
    return (n_tokens + block_tokens - 1) / block_tokens;
}

// Positions before the deepest step, as far as context and memory go.
uint32_t deepest(const StepTimerParts& parts) {
    const uint64_t most_bytes =
        std::min(parts.cache_bytes, std::max(kKvBytes, parts.model.spec().weight_bytes / 8));
    const uint64_t n_tokens = std::min<uint64_t>(
        parts.limits.context_length,
        most_bytes / (parts.kv.block_bytes() * parts.kv.n_groups()) * parts.kv.block_tokens);
    const uint64_t n_depth = n_tokens - std::min<uint64_t>(n_tokens, kMostPointRows);
    return static_cast<uint32_t>(std::min<uint64_t>(n_depth, StepCosts::kDepths.back()));
}

}  // namespace

std::optional<StepTimer> StepTimer::open(StepTimerParts parts) {
    const uint32_t n_depth = deepest(parts);
    const uint32_t n_places = blocks_for(n_depth + kMostPointRows, parts.kv.block_tokens);
    auto storage = KvStorage::open(parts.kv, n_places * parts.kv.n_groups());
    if (!storage) return std::nullopt;
    return StepTimer(std::move(parts), std::move(*storage), n_depth);
}

StepTimer::StepTimer(StepTimerParts parts, KvStorage storage, uint32_t n_depth)
    : parts_(std::move(parts)),
      storage_(std::move(storage)),
      n_depth_(n_depth),
      n_places_(storage_.n_blocks() / storage_.spec().n_groups()),
      blocks_(storage_.n_blocks()),
      tokens_(kMostPointRows),
      rows_(kMostPointRows) {
    const uint32_t n_groups = storage_.spec().n_groups();
    for (uint32_t g = 0; g < n_groups; ++g)
        for (uint32_t i = 0; i < n_places_; ++i)
            blocks_[uint64_t{g} * n_places_ + i] = BlockId{i * n_groups + g};
    const uint32_t vocab_size = parts_.model.spec().vocab_size;
    for (uint32_t i = 0; i < kMostPointRows; ++i)
        tokens_[i] = static_cast<TokenId>((uint64_t{i} * 7919 + 1) % vocab_size);
    std::iota(rows_.begin(), rows_.end(), 0u);
}

CalibrationLimits StepTimer::limits() const {
    return {.n_tokens = std::min(parts_.limits.n_rows, parts_.limits.context_length),
            .n_logits_rows = parts_.limits.n_logits_rows,
            .n_depth = n_depth_};
}

// Pages that were never written are all the same page of zeros, which is always in a cache.
void StepTimer::touch(uint32_t n_places) {
    const uint32_t n_blocks = n_places * storage_.spec().n_groups();
    if (n_blocks <= n_touched_) return;
    const uint64_t block_bytes = storage_.spec().block_bytes();
    std::byte* begin = storage_.view().base + n_touched_ * block_bytes;
    const uint64_t n_bytes = (n_blocks - n_touched_) * block_bytes;
    parts_.pool.run([&](Worker w) {
        const uint64_t from = n_bytes * w.index() / w.count();
        std::memset(begin + from, 0, n_bytes * (w.index() + 1) / w.count() - from);
    });
    n_touched_ = n_blocks;
}

std::optional<double> StepTimer::time(const StepPoint& point) {
    if (parts_.must_stop()) return std::nullopt;
    const uint32_t n_places =
        blocks_for(point.depth + point.n_tokens, storage_.spec().block_tokens);
    touch(n_places);
    const SequenceRows sequence = {.blocks = std::span(blocks_).first(n_places),
                                   .n_past = point.depth,
                                   .first_row = 0,
                                   .n_rows = point.n_tokens,
                                   .group_stride = n_places_};
    const Batch batch = {.tokens = std::span(tokens_).first(point.n_tokens),
                         .sequences = {&sequence, 1},
                         .logits_rows = std::span(rows_).subspan(
                             point.n_tokens - point.n_logits_rows, point.n_logits_rows)};
    const uint64_t n_logits = uint64_t{point.n_logits_rows} * parts_.model.spec().vocab_size;
    const double start_ms = parts_.now_ms();
    const Result<void> done =
        parts_.model.forward(batch, storage_.view(), parts_.scratch, parts_.logits.first(n_logits));
    if (!done) return std::nullopt;
    return parts_.now_ms() - start_ms;
}

}  // namespace kvik
