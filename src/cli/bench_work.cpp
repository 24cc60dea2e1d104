#include "cli/bench_work.h"

#include <algorithm>

namespace kvik::cli {
namespace {

// Positions that a row at `position` sees, itself included.
uint64_t visible(uint32_t window, uint64_t position) {
    return window > 0 ? std::min<uint64_t>(window, position + 1) : position + 1;
}

}  // namespace

BenchWork::BenchWork(const ModelNeeds& needs, const ModelConfig& config, const KvSpec& kv, Act act)
    : needs_(needs),
      kv_bytes_(static_cast<double>(kv.bytes_per_token()) / kv.n_layers),
      score_ops_(4.0 * config.n_heads * config.head_dim),
      act_(act) {
    for (uint32_t layer = 0; layer < config.n_layers; ++layer) {
        const uint32_t window = config.window(layer);
        const auto same = std::find_if(layers_.begin(), layers_.end(),
                                       [&](const Layers& l) { return l.window == window; });
        if (same != layers_.end())
            ++same->n;
        else
            layers_.push_back({window, 1});
    }
}

Work BenchWork::multiply(const MultiplyAdds& macs, double n_rows) const {
    const double quantised = 2.0 * n_rows * static_cast<double>(macs.quantised);
    const double floats = 2.0 * n_rows * static_cast<double>(macs.floats);
    if (act_ == Act::f32) return {.f32_ops = quantised + floats};
    return {.int8_ops = quantised, .f32_ops = floats};
}

Work BenchWork::of_step(const Step& step) const {
    Work work{.read_bytes = static_cast<double>(needs_.step_bytes)};
    work.add(multiply(needs_.token, double{1} * step.n_sequences * step.n_rows));
    work.add(multiply(needs_.head, step.n_logits_rows));
    for (const Layers& layers : layers_) {
        // From the first row's oldest position to the last row.
        const uint64_t seen = visible(layers.window, step.n_past) + step.n_rows - 1;
        const uint64_t own = std::min<uint64_t>(seen, step.n_past - step.n_shared + step.n_rows);
        uint64_t pairs = 0;  // of a row and a position that it sees
        for (uint32_t row = 0; row < step.n_rows; ++row)
            pairs += visible(layers.window, uint64_t{step.n_past} + row);
        work.read_bytes +=
            kv_bytes_ * layers.n * static_cast<double>(seen - own + own * step.n_sequences);
        work.f32_ops += score_ops_ * layers.n * static_cast<double>(pairs * step.n_sequences);
    }
    return work;
}

Work BenchWork::of_prompt(const Prompt& prompt) const {
    Work work;
    for (uint32_t done = 0; done < prompt.n_tokens; done += prompt.n_chunk_rows) {
        const uint32_t n_rows = std::min(prompt.n_chunk_rows, prompt.n_tokens - done);
        const bool is_last = done + n_rows == prompt.n_tokens;
        work.add(of_step(
            {.n_past = prompt.depth + done, .n_rows = n_rows, .n_logits_rows = is_last ? 1u : 0u}));
    }
    return work;
}

Work BenchWork::of_decode(const Decode& decode) const {
    Work work;
    for (uint32_t i = 0; i < decode.n_tokens; ++i)
        work.add(of_step({.n_sequences = decode.n_streams,
                          .n_shared = decode.depth,
                          .n_past = decode.depth + 1 + i,
                          .n_logits_rows = decode.n_streams}));
    return work;
}

}  // namespace kvik::cli
