// TokenPicker: picks the next token of a request from a row of logits, or hands the row to its beam
// search. A picked token joins the sequence and becomes an event of the request.
//
// Use     Acceptance calls pick() for every computed row that a token follows; Admission calls it
//         for a prompt whose logits were cached.
// Owner   the sampler's scratch; borrows the cache, in which the first pick pins the prompt if the
//         request asks for that.
// Threads the engine thread.
// Cost    sampling (sample/sampler.h); allocates only under beam search.
// Errors  a row that nothing can be sampled from: RequestState::error is set.
#pragma once

#include <functional>
#include <span>

#include "engine/kv_cache.h"
#include "engine/request/request_state.h"
#include "sample/sampler.h"

namespace kvik {

class TokenPicker {
  public:
    TokenPicker(KvCache& cache, const std::function<double()>& now_ms, uint32_t vocab_size)
        : cache_(cache), now_ms_(now_ms), scratch_(vocab_size) {}

    // `row`: [vocab_size] logits after the last token of the request's sequence. `tiles`: of that
    // row; empty for a row that was cached. Sets RequestState::end when the answer ends.
    void pick(RequestState& state, std::span<const float> row, const LogitTiles& tiles);
    // The same for one of its beams.
    void pick_for_beam(RequestState& state, uint32_t beam, std::span<const float> row,
                       const LogitTiles& tiles);

  private:
    void pin_prompt(const RequestState& state);
    void begin_beams(RequestState& state, const RequestBeams::Row& row);
    void note_beams(RequestState& state, const Result<void>& taken);
    void add_token(RequestState& state, TokenId token, std::span<const float> row,
                   const LogitTiles& tiles);

    KvCache& cache_;
    const std::function<double()>& now_ms_;
    SampleScratch scratch_;
};

}  // namespace kvik
