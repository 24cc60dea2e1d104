// Transformer: the last norm and the head.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "kernels/note_tiles.h"
#include "model/transformer.h"
#include "model/transformer_step.h"

namespace kvik {
namespace {

constexpr uint32_t kNotedPairs = 64;  // 2048 logits of a row: still in cache when they are noted

// What is asked of the tiles of `pairs`, for n rows of logits that begin at `logits`.
void note_pairs(const KernelTable& kernels, std::span<const LogitTiles> tiles, Share pairs,
                const float* logits, uint32_t width) {
    const uint32_t first = std::min(2 * pairs.begin * kTileRows, width);
    const uint32_t end = std::min(2 * pairs.end * kTileRows, width);
    if (first == end) return;
    for (size_t i = 0; i < tiles.size(); ++i)
        note_tiles(kernels, logits + i * width + first, end - first, tiles[i].from(first));
}

}  // namespace

// The head sees only the rows whose logits are wanted. They are settled and normed by every worker
// for itself, a panel at a time.
void Transformer::head(const Step& step, const Stream& stream) const {
    const auto wanted = step.batch.logits_rows;
    const auto tiles = step.batch.logit_tiles;
    const LinearWeights linear = {.matrix = weights_.head};
    KVIK_CHECK(tiles.empty() || tiles.size() == wanted.size(),
               "notes are of every wanted row of logits or of none");
    const uint32_t width = config_.hidden_size, n_logits = linear.matrix.n_rows;
    WorkerScratch& own = step.own();
    for (uint32_t first = 0; first < wanted.size(); first += kPanelCols) {
        const auto n = std::min<uint32_t>(kPanelCols, static_cast<uint32_t>(wanted.size()) - first);
        own.activations.reset(n, width, act_forms(act_, linear.matrix));
        for (uint32_t i = 0; i < n; ++i) {
            const float* x = settled_row(step, stream, wanted[first + i], own.settled);
            if (!std::isfinite(norm_row(weights_.out_norm, x, width, own.row)) ||
                !own.activations.load_row(kernels_, i, own.row))
                step.flag(config_.n_layers - 1);
        }
        float* out = step.logits.data() + uint64_t{first} * n_logits;
        if (first > 0) step.worker.barrier();  // what is shared out belongs to one panel at a time
        step.work.each(n_pairs(linear.matrix), [&](Share mine) {
            for (uint32_t pair = mine.begin; pair < mine.end; pair += kNotedPairs) {
                const Share some = {pair, std::min(pair + kNotedPairs, mine.end)};
                project_pairs(step, linear, some, own.activations, out);
                if (tiles.empty()) continue;
                note_pairs(kernels_, tiles.subspan(first, n), some, out, n_logits);
            }
        });
    }
}

}  // namespace kvik
