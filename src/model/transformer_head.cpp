// Transformer: the last norm and the head.
#include <algorithm>
#include <cmath>

#include "model/transformer.h"
#include "model/transformer_step.h"

namespace kvik {

// The head sees only the rows whose logits are wanted. They are settled and normed by every worker
// for itself, a panel at a time.
void Transformer::head(const Step& step, const Stream& stream) const {
    const auto wanted = step.batch.logits_rows;
    const LinearWeights linear = {.matrix = weights_.head};
    const uint32_t width = config_.hidden_size;
    WorkerScratch& own = step.own();
    const Share mine = share(step.worker, n_pairs(linear.matrix));
    for (uint32_t first = 0; first < wanted.size(); first += kPanelCols) {
        const auto n = std::min<uint32_t>(kPanelCols, static_cast<uint32_t>(wanted.size()) - first);
        own.activations.reset(n, width, act_forms(act_, linear.matrix));
        for (uint32_t i = 0; i < n; ++i) {
            const float* x = settled_row(step, stream, wanted[first + i], own.settled);
            if (!std::isfinite(norm_row(weights_.out_norm, x, width, own.row)) ||
                !own.activations.load_row(kernels_, i, own.row))
                step.flag(config_.n_layers - 1);
        }
        project_pairs(step, linear, mine, own.activations,
                      step.logits.data() + uint64_t{first} * linear.matrix.n_rows);
    }
}

}  // namespace kvik
