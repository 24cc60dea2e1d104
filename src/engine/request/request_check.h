// check_request: checks a request when it is submitted, before it waits for anything.
//
// Owner   nothing.
// Threads any; stateless.
// Cost    O(prompt).
// Errors  empty prompt, id outside the vocabulary, bad sampling, stop strings or beams: usage. A
//         prompt longer than the context: context, naming both numbers. KV larger than the whole
//         budget: memory, naming bytes, budget and options. Stop strings without a tokenizer:
//         unsupported.
// Invariant a request that passes can be computed, if need be alone.
#pragma once

#include "engine/engine_settings.h"
#include "kvik/kvik.h"

namespace kvik {

Result<void> check_request(const GenerateRequest& request, const EngineSettings& settings,
                           const ModelSpec& model, const Tokenizer* tokenizer);

}  // namespace kvik
