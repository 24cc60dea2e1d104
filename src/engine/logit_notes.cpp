#include "engine/logit_notes.h"

#include "base/check.h"
#include "sample/sampler.h"

namespace kvik {

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
