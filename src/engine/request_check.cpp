#include "engine/request_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/beam_check.h"

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

// What to do about a prompt that is longer than the context.
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

Result<void> check_request(const GenerateRequest& request, const EngineSettings& settings,
                           const ModelSpec& model, const Tokenizer* tokenizer) {
    KVIK_TRY_VOID(check_prompt(request, model.vocab_size));
    KVIK_TRY_VOID(validate(request.sampling, model.vocab_size));
    KVIK_TRY_VOID(check_stops(request, tokenizer));
    KVIK_TRY_VOID(check_length(request, settings));
    return check_beams(request, settings);
}

}  // namespace kvik
