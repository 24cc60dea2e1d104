#include "engine/loop/batch_buffer.h"

#include "base/check.h"
#include "sample/sampler.h"

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

LogitNotes::LogitNotes(uint32_t n_rows, uint32_t vocab_size)
    : vocab_size_(vocab_size),
      room_(std::make_unique_for_overwrite<float[]>(3 * n_rows * n_logit_tiles(vocab_size))) {
    rows_.reserve(n_rows);
}

void LogitNotes::add(const GenerateRequest& request, uint32_t n) {
    if (n == 0) return;
    KVIK_CHECK(rows_.size() + n <= rows_.capacity(), "notes fit the rows of logits of a step");
    rows_.resize(rows_.size() + n - 1);
    const size_t n_tiles = n_logit_tiles(vocab_size_);
    float* room = room_.get() + 3 * n_tiles * rows_.size();
    LogitTiles tiles;
    tiles.maxima = {room, n_tiles};
    if (request.want_logprobs) tiles.masses = {room + n_tiles, n_tiles};
    if (wants_tempered_masses(request.sampling, vocab_size_)) {
        tiles.tempered = {room + 2 * n_tiles, n_tiles};
        tiles.inverse_temperature = 1.0f / request.sampling.temperature;
    }
    rows_.push_back(tiles);
}

}  // namespace kvik
