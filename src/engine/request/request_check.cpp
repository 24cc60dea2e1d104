#include "engine/request/request_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cache/block_table.h"
#include "sample/logits.h"

namespace kvik {

static constexpr size_t kMostStops = 16;

static Result<void> check_prompt(const GenerateRequest& request, uint32_t vocab_size) {
    if (request.prompt.empty()) {
        return fail(ErrorKind::usage, "the prompt is empty: give at least one token");
    }
    for (size_t i = 0; i < request.prompt.size(); ++i) {
        const TokenId id = request.prompt[i];
        if (id >= 0 && static_cast<uint32_t>(id) < vocab_size) continue;
        return fail(ErrorKind::usage,
                    fmt::format("prompt token {} is {}, the vocabulary has 0 .. {}", i, id,
                                vocab_size - 1));
    }
    return {};
}

static Result<void> check_stops(const GenerateRequest& request, const Tokenizer* tokenizer) {
    if (request.stop.empty()) return {};
    if (!tokenizer) {
        return fail(ErrorKind::unsupported,
                    "stop strings need a tokenizer, and the model has none");
    }
    if (request.stop.size() > kMostStops) {
        return fail(ErrorKind::usage, fmt::format("{} stop strings, at most {} are allowed",
                                                  request.stop.size(), kMostStops));
    }
    if (std::any_of(request.stop.begin(), request.stop.end(),
                    [](const std::string& stop) { return stop.empty(); })) {
        return fail(ErrorKind::usage, "a stop string is empty");
    }
    return {};
}

// Returns what to do about a prompt that is longer than the context.
static std::string_view remedy(uint64_t n_prompt, const EngineSettings& settings) {
    if (n_prompt <= settings.most_context) return "raise --ctx or shorten it";
    if (n_prompt <= settings.model_context) return "raise --cache-ram and --ctx, or shorten it";
    return "shorten it, the model was made for no more";
}

static Result<void> check_length(const GenerateRequest& request, const EngineSettings& settings) {
    const uint64_t n_prompt = request.prompt.size();
    if (n_prompt > settings.context) {
        return fail(ErrorKind::context,
                    fmt::format("prompt has {} tokens, context is {}: {}", n_prompt,
                                settings.context, remedy(n_prompt, settings)));
    }
    const uint64_t n_all = std::min<uint64_t>(n_prompt + request.max_new_tokens, settings.context);
    const uint64_t n_kv = std::max(n_prompt, n_all - 1);  // the last token picked needs no KV
    if (n_kv <= settings.capacity()) return {};
    const uint64_t n_blocks = settings.kv.most_blocks(n_kv, kLeastTokens);
    return fail(ErrorKind::memory,
                fmt::format("{} prompt tokens and up to {} more need {} bytes of KV, the cache has "
                            "room for {}: raise --cache-ram, or lower -n or --ctx",
                            n_prompt, n_all - n_prompt, n_blocks * settings.kv.block_bytes(),
                            settings.budget.n_blocks * settings.kv.block_bytes()));
}

// ---- beams ----

static constexpr double kMostLengthPenalty = 10;

// Returns at how many block indices of a layer group a sequence holds a block at a time.
static uint64_t max_logical_blocks(uint32_t window, const EngineSettings& settings) {
    if (window == 0) return UINT64_MAX;
    return (uint64_t{window} + kRewindTokens + settings.ubatch) / settings.kv.block_tokens + 2;
}

// Returns the most blocks that the beams hold at a time. They share the whole blocks of the prompt;
// its last, partial block stays beside a copy per beam.
static uint64_t most_blocks(const GenerateRequest& request, uint64_t n_kv,
                            const EngineSettings& settings) {
    const uint64_t n_prompt = request.prompt.size(), block_tokens = settings.kv.block_tokens;
    const uint64_t n_of_prompt = (n_prompt + block_tokens - 1) / block_tokens;
    const uint64_t n_of_beam = (n_kv + block_tokens - 1) / block_tokens - n_prompt / block_tokens;
    uint64_t n_blocks = 0;
    for (uint32_t group = 0; group < settings.kv.n_groups(); ++group) {
        const uint64_t n_most = max_logical_blocks(settings.kv.window(group), settings);
        n_blocks +=
            std::min(n_of_prompt, n_most) + request.beams->n_beams * std::min(n_of_beam, n_most);
    }
    return n_blocks;
}

static Result<void> check_beam_blocks(const GenerateRequest& request,
                                      const EngineSettings& settings) {
    const uint64_t n_prompt = request.prompt.size();
    const uint64_t n_all = std::min<uint64_t>(n_prompt + request.max_new_tokens, settings.context);
    const uint64_t n_kv = std::max(n_prompt, n_all - 1);  // the last token picked needs no KV
    const uint64_t n_blocks = most_blocks(request, n_kv, settings);
    if (n_blocks <= settings.budget.n_blocks) return {};
    return fail(
        ErrorKind::memory,
        fmt::format("{} beams of {} prompt tokens and up to {} more need {} bytes of KV, the "
                    "cache has room for {}: raise --cache-ram, or lower --beams, -n or --ctx",
                    request.beams->n_beams, n_prompt, n_all - n_prompt,
                    n_blocks * settings.kv.block_bytes(),
                    settings.budget.n_blocks * settings.kv.block_bytes()));
}

static Result<void> check_beams(const GenerateRequest& request, const EngineSettings& settings) {
    if (!request.beams) return {};
    const auto [n_beams, length_penalty] = *request.beams;
    if (n_beams < 1 || n_beams > settings.max_sequences) {
        return fail(ErrorKind::usage,
                    fmt::format("--beams {} is not in 1 .. {}, the sequences that "
                                "run at once",
                                n_beams, settings.max_sequences));
    }
    if (!(std::abs(length_penalty) <= kMostLengthPenalty)) {
        return fail(ErrorKind::usage,
                    fmt::format("--length-penalty {} is not in -{} .. {}", length_penalty,
                                kMostLengthPenalty, kMostLengthPenalty));
    }
    if (adjusts_logits(request.sampling)) {
        return fail(ErrorKind::usage,
                    "beam search follows the model's own probabilities: leave out penalties and "
                    "--logit-bias");
    }
    return check_beam_blocks(request, settings);
}

Result<void> check_request(const GenerateRequest& request, const EngineSettings& settings,
                           const ModelSpec& model, const Tokenizer* tokenizer) {
    KVIK_TRY_VOID(check_prompt(request, model.vocab_size));
    KVIK_TRY_VOID(validate(request.sampling, model.vocab_size));
    KVIK_TRY_VOID(check_stops(request, tokenizer));
    KVIK_TRY_VOID(check_length(request, settings));
    return check_beams(request, settings);
}

}  // namespace kvik
