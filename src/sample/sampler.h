// Sampler: a row of logits in, a token out; a pure function with no memory of its own.
//
// Order   penalties, bias, temperature, top-k, top-p, min-p (params.h), then the draw: the kept
//         token with the largest l / T + g (Gumbel-max), g as in noise.h. At temperature 0 the
//         largest l. Ties go to the lowest id everywhere.
// Owner   the caller owns the scratch; one may serve many sequences in turn.
// Cost    looks at the tiles of the row, and into those that have a token that may be drawn; noise
//         only for tokens that can win; no allocation. A row that comes without tiles costs a pass.
// Invariant same row, params, history and position -> same token, on every machine.
// Errors  NaN or +inf in the row, or every token at -inf: ErrorKind::failed, naming the position.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/logit_tiles.h"
#include "base/result.h"
#include "base/types.h"
#include "sample/candidates.h"
#include "sample/params.h"
#include "sample/row.h"

namespace kvik {

struct SampleInput {
    std::span<const float> logits;     // [vocab_size] f32, as the model gave them
    std::span<const TokenId> history;  // prompt + generated so far: what penalties look at
    uint32_t position = 0;             // absolute position of the token that is picked
    LogitTiles tiles = {};             // of `logits`; empty: they are found by a pass
};

// Working memory, sized once: about 24 bytes a token of the vocabulary.
struct SampleScratch {
    explicit SampleScratch(uint32_t vocab_size);

    RowPatch patch;                     // logits after penalties and bias
    std::vector<float> maxima;          // [n_tiles] of a row that comes without
    std::vector<uint32_t> counts;       // [vocab_size] all zero between calls
    std::vector<Candidate> candidates;  // at most vocab_size
};

// Whether LogitTiles::tempered, at 1 / params.temperature, would save a pass over the row.
bool wants_tempered_sum_exp(const SamplingParams& params, uint32_t vocab_size);

// `params` must have passed validate() for this vocabulary.
Result<TokenId> sample(const SamplingParams& params, const SampleInput& input,
                       SampleScratch& scratch);

}  // namespace kvik
