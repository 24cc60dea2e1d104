#include "cli/bench_rig.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/check.h"
#include "base/philox.h"

namespace kvik::cli {
namespace {

constexpr uint32_t kPrefixStream = 0;  // of the tokens before the depth
// Steps that are measured together.
constexpr uint32_t kLeastSteps = 3, kMostSteps = 32;
constexpr double kStepsMs = 25;

uint32_t blocks_for(uint32_t n_tokens, const KvSpec& kv) {
    return (n_tokens + kv.block_tokens - 1) / kv.block_tokens;
}

Result<Summary> drain(Stream& stream) {
    for (;;) {
        KVIK_TRY(const auto event, stream.next());
        if (!event) return stream.summary();
    }
}

}  // namespace

std::vector<TokenId> bench_ids(uint32_t n, uint32_t vocab_size, uint32_t stream) {
    std::vector<TokenId> ids(n);
    for (uint32_t i = 0; i < n; ++i)
        ids[i] = static_cast<TokenId>(philox4x32({i, stream, 0, 0}, {0, 0})[0] % vocab_size);
    return ids;
}

Result<StepRig> StepRig::open(const Model& model, ThreadPool& pool, const KvSpec& kv,
                              const Limits& limits) {
    KVIK_TRY(KvStorage storage,
             KvStorage::open(kv, blocks_for(limits.context, kv) * kv.n_groups()));
    KVIK_TRY(auto scratch,
             model.make_scratch({.n_rows = std::max(limits.n_chunk_rows, limits.n_rows),
                                 .n_logits_rows = limits.n_rows,
                                 .context_length = limits.context,
                                 .profile = limits.profile},
                                pool));
    return StepRig(model, std::move(storage), std::move(scratch), limits);
}

StepRig::StepRig(const Model& model, KvStorage storage, std::unique_ptr<Scratch> scratch,
                 const Limits& limits)
    : model_(&model),
      storage_(std::move(storage)),
      scratch_(std::move(scratch)),
      limits_(limits),
      ids_(bench_ids(limits.context, model.spec().vocab_size, kPrefixStream)),
      all_rows_(limits.n_rows),
      logits_(static_cast<size_t>(limits.n_rows) * model.spec().vocab_size) {
    for (uint32_t i = 0; i < storage_.n_blocks(); ++i) blocks_.push_back(BlockId{i});
    std::iota(all_rows_.begin(), all_rows_.end(), 0u);
}

Result<void> StepRig::step(const Rows& rows) {
    KVIK_CHECK(rows.depth <= depth_, "rows come after prefilled tokens");
    const SequenceRows sequence{
        .blocks = std::span(blocks_).first(blocks_for(rows.depth + rows.n, storage_.spec())),
        .n_past = rows.depth,
        .first_row = 0,
        .n_rows = rows.n,
        .group_stride = storage_.n_blocks() / storage_.spec().n_groups()};
    return model_->forward(
        {.tokens = std::span(ids_).subspan(rows.depth, rows.n),
         .sequences = std::span(&sequence, 1),
         .logits_rows = std::span(all_rows_).first(rows.n_logits)},
        storage_.view(), *scratch_,
        std::span(logits_).first(static_cast<size_t>(rows.n_logits) * model_->spec().vocab_size));
}

Result<void> StepRig::prefill_to(uint32_t depth) {
    while (depth_ < depth) {
        const uint32_t n_rows = std::min(depth - depth_, limits_.n_chunk_rows);
        KVIK_TRY_VOID(step({.depth = depth_, .n = n_rows, .n_logits = 0}));
        depth_ += n_rows;
    }
    return {};
}

Result<double> StepRig::step_ms(const Rows& rows) {
    KVIK_TRY_VOID(step(rows));
    std::vector<double> times;
    double passed_ms = 0;
    while (times.size() < kLeastSteps || (passed_ms < kStepsMs && times.size() < kMostSteps)) {
        const auto start = std::chrono::steady_clock::now();
        KVIK_TRY_VOID(step(rows));
        const std::chrono::duration<double, std::milli> passed =
            std::chrono::steady_clock::now() - start;
        times.push_back(passed.count());
        passed_ms += passed.count();
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

GenerateRequest EngineRig::request(uint32_t depth, uint32_t n_tokens, uint32_t n_new) {
    const uint32_t vocab_size = engine_->model().vocab_size;
    GenerateRequest request;
    request.prompt = bench_ids(depth, vocab_size, kPrefixStream);
    const auto own = bench_ids(n_tokens, vocab_size, ++n_prompts_);
    request.prompt.insert(request.prompt.end(), own.begin(), own.end());
    request.sampling.temperature = 0;
    request.max_new_tokens = n_new;
    request.end_tokens = EndTokens::ignore;
    request.cache = depth > 0 ? CachePolicy::reuse : CachePolicy::off;
    return request;
}

Result<void> EngineRig::prefill(uint32_t depth) {
    if (depth == 0) return {};
    KVIK_TRY(Stream stream, engine_->submit(request(depth, 0, 0)));
    KVIK_TRY_VOID(drain(stream));
    return {};
}

Result<double> EngineRig::prompt_ms(uint32_t n_tokens, uint32_t depth) {
    KVIK_TRY(Stream stream, engine_->submit(request(depth, n_tokens, 0)));
    KVIK_TRY(const Summary summary, drain(stream));
    if (summary.timings.n_cached_tokens < depth)
        return fail(ErrorKind::memory,
                    fmt::format("only {} of {} tokens were still cached: raise --cache-ram",
                                summary.timings.n_cached_tokens, depth));
    return summary.timings.prompt_ms;
}

Result<double> EngineRig::decode_ms(uint32_t n_tokens, uint32_t depth, uint32_t n_streams) {
    // One token more than is timed: the clock starts at the first.
    std::vector<Stream> streams;
    for (uint32_t i = 0; i < n_streams; ++i) {
        KVIK_TRY(Stream stream, engine_->submit(request(depth, 1, n_tokens + 1)));
        streams.push_back(std::move(stream));
    }
    double tokens_per_ms = 0;
    for (Stream& stream : streams) {
        KVIK_TRY(const Summary summary, drain(stream));
        tokens_per_ms += n_tokens / summary.timings.decode_ms;
    }
    return static_cast<double>(n_tokens) * n_streams / tokens_per_ms;
}

}  // namespace kvik::cli
