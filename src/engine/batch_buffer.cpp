#include "engine/batch_buffer.h"

#include "base/check.h"

namespace kvik {

BatchBuffer::BatchBuffer(const ScratchLimits& limits, uint32_t max_sequences) {
    tokens_.reserve(limits.n_rows);
    sequences_.reserve(max_sequences);
    logits_rows_.reserve(limits.n_logits_rows);
}

void BatchBuffer::begin() {
    tokens_.clear();
    sequences_.clear();
    logits_rows_.clear();
}

void BatchBuffer::add(const Sequence& sequence, const PlannedTokens& rows) {
    const uint32_t first_row = n_rows();
    const std::span<const TokenId> tokens = sequence.next(rows.n_tokens);
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    sequences_.push_back({.blocks = sequence.table().ids(),
                          .n_past = sequence.n_computed(),
                          .first_row = first_row,
                          .n_rows = rows.n_tokens,
                          .group_stride = sequence.table().n_most_places()});
    for (uint32_t row = n_rows() - rows.n_logits_rows; row < n_rows(); ++row) {
        logits_rows_.push_back(row);
    }
    KVIK_CHECK(tokens_.size() <= tokens_.capacity() && sequences_.back().n_rows > 0,
               "a batch fits its buffer");
}

}  // namespace kvik
