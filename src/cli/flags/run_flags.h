// RunOptions, ChatFlags: the flags of `kvik run` and of `kvik chat`.
//
// Use     run_flags() or chat_flags() binds a table to the struct, which stays alive until parse()
//         has returned. `kvik MODEL` takes the flags of run, and run those of chat where it chats.
// Errors  those of single flags, from parse(). What does not go together the verb refuses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/chat_loop.h"
#include "cli/flags/options.h"
#include "cli/flags/prompt_flags.h"
#include "cli/model_choice.h"

namespace kvik::cli {

// One prompt gets several answers: samples or beams.
struct SeveralOptions {
    std::optional<uint32_t> n_samples, n_beams;
    std::optional<double> length_penalty;

    uint32_t n_streams() const { return n_samples.value_or(1); }
    uint32_t n_sequences() const { return n_beams.value_or(n_streams()); }
};

struct RunOptions {
    EngineOptions engine;
    SamplingParams sampling;
    AnswerOptions answer;
    SeveralOptions several;
    PromptSource prompt;
    std::optional<std::string> system, model_system;
    std::optional<std::vector<TokenId>> ids;
    bool raw = false, conversation = false, json = false, logits_hash = false, kv_report = false;
    bool wants_chat = false, resumes = false, no_wrap = false, verbose = false;
    std::string of_chat;  // a flag that only a conversation has a use for
};

Flags run_flags(RunOptions& options);

struct ChatFlags {
    EngineOptions engine;
    ChatOptions chat;
    PromptSource first_message;
    std::optional<std::string> model_system;
    ChosenModel model;
};

Flags chat_flags(ChatFlags& options);

}  // namespace kvik::cli
