#include "engine/beam_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cache/block_table.h"
#include "sample/logits.h"

namespace kvik {

static constexpr double kMostLengthPenalty = 10;

// Places of a group at which a sequence ever holds a block.
static uint64_t most_places(uint32_t window, const EngineSettings& settings) {
    if (window == 0) return UINT64_MAX;
    return (uint64_t{window} + kRewindTokens + settings.ubatch) / settings.kv.block_tokens + 2;
}

// Beams share the whole blocks of the prompt; the prompt's own tail stays beside theirs.
static uint64_t most_blocks(const GenerateRequest& request, uint64_t n_kv,
                            const EngineSettings& settings) {
    const uint64_t n_prompt = request.prompt.size(), block_tokens = settings.kv.block_tokens;
    const uint64_t n_of_stem = (n_prompt + block_tokens - 1) / block_tokens;
    const uint64_t n_of_beam = (n_kv + block_tokens - 1) / block_tokens - n_prompt / block_tokens;
    uint64_t n_blocks = 0;
    for (uint32_t group = 0; group < settings.kv.n_groups(); ++group) {
        const uint64_t n_most = most_places(settings.kv.window(group), settings);
        n_blocks +=
            std::min(n_of_stem, n_most) + request.beams->n_beams * std::min(n_of_beam, n_most);
    }
    return n_blocks;
}

static Result<void> check_room(const GenerateRequest& request, const EngineSettings& settings) {
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

Result<void> check_beams(const GenerateRequest& request, const EngineSettings& settings) {
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
    return check_room(request, settings);
}

}  // namespace kvik
