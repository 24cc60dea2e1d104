#include "engine/engine_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/numerics.h"
#include "sched/scheduler.h"

namespace kvik {

static constexpr uint64_t kLogitsBytes = 32ull << 20;
static constexpr uint32_t kLogitsRows = 64;
static constexpr uint64_t kLeastDiskBlocks = 16;  // as many as a folder has segments
static constexpr uint64_t kLogprobsShare = 8;  // a logprob takes 8 bytes per token, with the token

std::string_view kv_type_name(KvType type) {
    return type == KvType::f16 ? "f16" : type == KvType::f32 ? "f32" : "q8";
}

static tl::unexpected<Error> out_of_range(std::string_view flag, uint64_t value, uint64_t least,
                                          uint64_t most) {
    return fail(ErrorKind::usage,
                fmt::format("{} {} is not in {} .. {}", flag, value, least, most));
}

Result<void> check_options(const EngineOptions& options) {
    if (options.ubatch < 1 || options.ubatch > kMostRows) {
        return out_of_range("--ubatch", options.ubatch, 1, kMostRows);
    }
    if (options.n_threads > kMostThreads) {
        return out_of_range("--threads", options.n_threads, 0, kMostThreads);
    }
    if (options.max_sequences < 1 || options.max_sequences > kMostSequences) {
        return out_of_range("max_sequences", options.max_sequences, 1, kMostSequences);
    }
    const uint32_t b = options.block_tokens;
    if (b != 16 && b != 32 && b != 64) {
        return fail(ErrorKind::usage, fmt::format("--block {} is not 16, 32 or 64", b));
    }
    return {};
}

// Returns as many rows as 32 MiB hold, at most 64, but at least one per sequence.
static uint32_t logits_rows(uint32_t vocab_size, uint32_t max_sequences) {
    const uint64_t row_bytes = std::max<uint64_t>(1, vocab_size) * sizeof(float);
    const uint64_t n_rows = std::clamp<uint64_t>(kLogitsBytes / row_bytes, 1, kLogitsRows);
    return std::max(static_cast<uint32_t>(n_rows), max_sequences);
}

uint64_t EngineSettings::capacity() const {
    uint64_t fits = static_cast<uint64_t>(budget.n_blocks) / kv.n_groups() * kv.block_tokens;
    uint64_t too_many = uint64_t{UINT32_MAX} + 1;
    while (too_many - fits > 1) {
        const uint64_t tried = fits + (too_many - fits) / 2;
        (kv.most_blocks(tried, kLeastTokens) <= budget.n_blocks ? fits : too_many) = tried;
    }
    return fits;
}

ScratchLimits EngineSettings::scratch_limits() const {
    return {.n_rows = max_batch_tokens(ubatch, max_sequences),
            .n_logits_rows = n_logits_rows,
            .context_length = context};
}

Result<EngineSettings> resolve_settings(const EngineOptions& options, const ModelSpec& model) {
    KVIK_TRY_VOID(check_options(options));
    const bool is_models = options.context == kModelContext;
    if (options.context > model.context_length && !is_models) {
        return fail(ErrorKind::usage,
                    fmt::format("--ctx {} is more than the {} tokens that the model "
                                "was made for: lower it",
                                options.context, model.context_length));
    }
    EngineSettings s;
    s.kv = model.kv;
    s.kv.type = options.kv_type;
    s.kv.block_tokens = options.block_tokens;
    KVIK_TRY(s.budget, plan_cache(s.kv, options.cache_bytes));
    s.prompt_logprobs_bytes = s.budget.logits_bytes / kLogprobsShare;
    s.budget.logits_bytes -= s.prompt_logprobs_bytes;
    s.cache_bytes = options.cache_bytes;
    if (s.capacity() < kLeastTokens) {
        return fail(ErrorKind::memory,
                    fmt::format("KV cache of {} bytes holds {} tokens, the least is {}: raise "
                                "--cache-ram",
                                options.cache_bytes, s.capacity(), kLeastTokens));
    }
    // The default context is never longer than what the budget holds.
    const uint64_t automatic =
        std::min<uint64_t>({model.context_length, kDefaultContext, s.capacity()});
    s.context = options.context > 0 ? options.context : static_cast<uint32_t>(automatic);
    if (is_models) s.context = model.context_length;
    s.most_context = static_cast<uint32_t>(std::min<uint64_t>(model.context_length, s.capacity()));
    s.model_context = model.context_length;
    s.ubatch = options.ubatch;
    s.max_sequences = options.max_sequences;
    s.n_logits_rows = logits_rows(model.vocab_size, options.max_sequences);
    s.cache = options.cache;
    s.evict = options.evict;
    s.cache_folder = options.cache == CachePolicy::off ? "" : options.cache_folder;
    s.disk_bytes = options.disk_bytes;
    const uint64_t least_disk = kLeastDiskBlocks * s.kv.n_groups() * s.kv.block_bytes();
    if (!s.cache_folder.empty() && s.disk_bytes < least_disk) {
        return fail(
            ErrorKind::usage,
            fmt::format("--cache-disk {} holds next to nothing, the least for this model is "
                        "{}: raise it, or leave --cache-dir out",
                        s.disk_bytes, least_disk));
    }
    s.identity = fmt::format(
        "{} kv={} act={} block={} numerics={}", model.fingerprint, kv_type_name(s.kv.type),
        options.act.value_or(std::string(kDefaultAct)), s.kv.block_tokens, numerics::kRevision);
    s.ns = namespace_key({s.identity});
    return s;
}

}  // namespace kvik
