// Acceptance: turns the logits of a step into progress: computed tokens join their sequences, KV is
// published, and every sequence whose tokens are all computed gets its next token.
//
// Use     after StepExecutor::execute(), with the same step.
// Owner   borrows the context, the picker and the store of logprobs.
// Threads the engine thread; GenerateRequest::on_prompt_logits is called here.
// Cost    O(tokens of the step), sampling, and per published prefix a walk of the prefix tree.
// Errors  none of its own: a request with RequestState::error set is passed over.
#pragma once

#include <cstdint>

#include "engine/generate/prompt_logprobs.h"
#include "engine/generate/token_picker.h"
#include "engine/loop/step_data.h"

namespace kvik {

class Acceptance {
  public:
    Acceptance(const StepContext& context, TokenPicker& picker, PromptLogprobs& logprobs)
        : context_(context), picker_(picker), logprobs_(logprobs) {}

    void accept(const ScheduledStep& step, const StepLogits& logits);
    uint64_t n_computed_tokens() const { return n_computed_tokens_; }

  private:
    void commit(const ScheduledStep& step);
    void publish_on_the_way(RequestState& state);
    void use_logits(const ScheduledSequence& scheduled, const StepLogits& logits);
    void use_prompt_logits(RequestState& state, const StepLogits& logits);
    void publish_prompt(RequestState& state, std::span<const float> row);

    const StepContext& context_;
    TokenPicker& picker_;
    PromptLogprobs& logprobs_;
    uint64_t n_computed_tokens_ = 0;
};

}  // namespace kvik
