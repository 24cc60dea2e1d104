// The two rigs of `kvik bench`: StepRig times bare steps of a model, EngineRig what a client sees.
//
// Shape   a time is in milliseconds; the tokens are fixed and random-looking.
// Owner   StepRig borrows the model, EngineRig owns an engine over it.
// Invariant the cache falsifies nothing: at depth 0 it is off, at a depth only the tokens before it
//         are found again; a prompt that found fewer is an error.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/thread_pool.h"
#include "cache/kv_storage.h"
#include "kvik/kvik.h"
#include "model/model.h"

namespace kvik::cli {

// n ids, another list for every `stream`.
std::vector<TokenId> bench_ids(uint32_t n, uint32_t vocab_size, uint32_t stream);

// One sequence, straight on the model.
class StepRig {
  public:
    struct Limits {
        uint32_t n_chunk_rows = 512;  // most rows of a prefill step
        uint32_t n_rows = 16;         // most rows of a measured step
        uint32_t context = 0;
        StepProfile* profile = nullptr;  // of all steps, if one is wanted
    };
    static Result<StepRig> open(const Model& model, ThreadPool& pool, const KvSpec& kv,
                                const Limits& limits);

    Result<void> prefill_to(uint32_t depth);  // never less than before
    // One step, and the median time of some with one before them to warm up. What they write is
    // what was there.
    struct Rows {
        uint32_t depth = 0;  // tokens before them, at most the prefilled ones
        uint32_t n = 1;
        uint32_t n_logits = 1;
    };
    Result<void> step(const Rows& rows);
    Result<double> step_ms(const Rows& rows);

  private:
    StepRig(const Model& model, KvStorage storage, std::unique_ptr<Scratch> scratch,
            const Limits& limits);

    const Model* model_;
    KvStorage storage_;
    std::unique_ptr<Scratch> scratch_;
    Limits limits_;
    std::vector<TokenId> ids_;
    std::vector<BlockId> blocks_;
    std::vector<uint32_t> all_rows_;
    std::vector<float> logits_;
    uint32_t depth_ = 0;
};

class EngineRig {
  public:
    explicit EngineRig(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

    // Makes the first `depth` tokens findable.
    Result<void> prefill(uint32_t depth);
    // A prompt of n tokens after the first `depth` ones.
    Result<double> prompt_ms(uint32_t n_tokens, uint32_t depth);
    // n_streams sequences that decode n tokens each, together: the time for all tokens.
    Result<double> decode_ms(uint32_t n_tokens, uint32_t depth, uint32_t n_streams);

  private:
    GenerateRequest request(uint32_t depth, uint32_t n_tokens, uint32_t n_new);

    std::unique_ptr<Engine> engine_;
    uint32_t n_prompts_ = 0;  // made so far: no two are alike
};

}  // namespace kvik::cli
