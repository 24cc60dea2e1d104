// Options: the flags that several verbs share, written once, with their ranges and defaults.
#pragma once

#include <string>

#include "cli/flags/flags.h"
#include "kvik/kvik.h"

namespace kvik::cli {

// When an answer ends.
struct AnswerOptions {
    uint32_t max_new_tokens = UINT32_MAX;
    EndTokens end_tokens = EndTokens::stop;
    std::vector<std::string> stop;
};

// MODEL, -m, -hf and --offline; where the model's own system message goes if the verb has a use for
// one, and what else is known of the model.
void add_model(Flags& flags, std::string& path, std::optional<std::string>* system = nullptr,
               ChosenModel* chosen = nullptr);
// `threads`: the verb takes several numbers of threads, which go there instead of into `engine`.
void add_engine_flags(Flags& flags, EngineOptions& engine,
                      std::vector<uint32_t>* threads = nullptr);
void add_cache_switch(Flags& flags, EngineOptions& engine);
void add_answer_flags(Flags& flags, AnswerOptions& answer);
// --seed -1 leaves the seed as it is.
void add_sampling_flags(Flags& flags, SamplingParams& sampling);
void add_draft_flag(Flags& flags);
void add_template_flag(Flags& flags, std::string& asked);  // --template NAME|FILE
void add_config_flags(Flags& flags, ConfigChoice& choice);

Result<void> set_logit_bias(std::string_view text, SamplingParams& sampling);  // "ID:B,ID:B"

}  // namespace kvik::cli
