// check_request: what is wrong with a request is said at submit, before it waits for anything.
//
// Errors  empty prompt, id outside the vocabulary, bad sampling or stop strings: usage. Prompt
//         longer than the context: context, naming both numbers. KV larger than the whole budget: memory,
//         naming bytes, budget and flag. Stop strings without a tokenizer: unsupported.
#pragma once

#include "engine/engine_settings.h"
#include "kvik/kvik.h"

namespace kvik {

Result<void> check_request(const GenerateRequest& request, const EngineSettings& settings,
                           const ModelSpec& model, const Tokenizer* tokenizer);

}  // namespace kvik
