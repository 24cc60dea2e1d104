// Transformer: Q, K and V of a layer, turned and stored.
//
// A head is finished (norm, RoPE, KV write) by the worker that computes the last of its tile pairs,
// so that no barrier comes in between, whoever takes which pairs and whatever a head's width is.
#include <algorithm>
#include <cmath>

#include "model/attention.h"
#include "model/transformer.h"
#include "model/transformer_step.h"

namespace kvik {
namespace {

constexpr uint32_t kPairRows = 2 * kTileRows;

// What a tile pair of Q, K or V gives rows to.
struct HeadRange {
    uint32_t begin, end;
};
HeadRange heads_of(uint32_t pair, uint32_t dim, uint32_t n_heads) {
    return {pair * kPairRows / dim,
            std::min(n_heads, (pair * kPairRows + kPairRows - 1) / dim + 1)};
}
uint32_t pairs_of(uint32_t head, uint32_t dim) {
    return (head * dim + dim - 1) / kPairRows - head * dim / kPairRows + 1;
}

// A head as KV has it: itself, or a copy with zeros behind it.
class PaddedHead {
  public:
    PaddedHead(uint32_t dim, uint32_t padded) : dim_(dim), padded_(padded) {
        std::fill(copy_ + dim, copy_ + padded, 0.0f);
    }
    const float* of(const float* x) {
        if (dim_ == padded_) return x;
        std::copy_n(x, dim_, copy_);
        return copy_;
    }

  private:
    uint32_t dim_, padded_;
    float copy_[kMaxHeadDim];
};

}  // namespace

void Transformer::project_qkv(const Step& step, uint32_t layer, const Activations& x) const {
    const LayerWeights& weights = weights_.layers[layer];
    TransformerScratch& s = step.s;
    struct Target {
        const LinearWeights& linear;
        HeadKind kind;
        uint32_t n_heads;
        float* out;
    };
    const Target targets[] = {{weights.q, HeadKind::q, config_.n_heads, s.q},
                              {weights.k, HeadKind::k, config_.n_kv_heads, s.k},
                              {weights.v, HeadKind::v, config_.n_kv_heads, s.v}};
    uint32_t n_all = 0;
    for (const Target& t : targets) n_all += n_pairs(t.linear.matrix);
    step.work.each(n_all, [&](Share all) {
        uint32_t base = 0;
        std::atomic<uint32_t>* done = s.pairs_done.data();
        for (const Target& t : targets) {
            const uint32_t pairs = n_pairs(t.linear.matrix);
            const Share own = {std::max(all.begin, base) - base,
                               std::max(std::min(all.end, base + pairs), base) - base};
            if (own.begin < own.end) project_pairs(step, t.linear, own, x, t.out);
            for (uint32_t p = own.begin; p < own.end; ++p) {
                const HeadRange heads = heads_of(p, config_.head_dim, t.n_heads);
                for (uint32_t h = heads.begin; h < heads.end; ++h)
                    if ((done[h].fetch_add(1, std::memory_order_acq_rel) + 1) %
                            pairs_of(h, config_.head_dim) ==
                        0) {
                        step.end(StepPart::qkv);
                        finish_head(step, layer, t.kind, h);
                        step.end(StepPart::rope);
                    }
            }
            base += pairs;
            done += t.n_heads;
        }
    });
}

void Transformer::finish_head(const Step& step, uint32_t layer, HeadKind kind,
                              uint32_t head) const {
    TransformerScratch& s = step.s;
    const LayerWeights& weights = weights_.layers[layer];
    const uint32_t dim = config_.head_dim;
    const bool is_local = &config_.rope_of(layer) == &config_.local_rope;
    const Rope& rope = is_local ? local_rope_ : rope_;
    const float* turns = is_local ? s.local_rope : s.rope;
    const NormWeights& norm = kind == HeadKind::q ? weights.q_norm : weights.k_norm;
    const uint32_t n_heads = kind == HeadKind::q ? config_.n_heads : config_.n_kv_heads;
    float* x = kind == HeadKind::q ? s.q : kind == HeadKind::k ? s.k : s.v;
    x += uint64_t{head} * dim;
    PaddedHead padded(dim, config_.padded_head_dim());
    for (uint32_t row = 0; row < step.n_rows(); ++row, x += uint64_t{n_heads} * dim) {
        const SequenceRows& sequence = step.batch.sequences[s.sequence_of[row]];
        if (kind == HeadKind::v) {
            if (!write_v(kernels_, step.kv, sequence, layer, s.positions[row], head, padded.of(x)))
                step.flag(layer);
            continue;
        }
        if (norm.scale && !std::isfinite(norm_row(norm, x, dim, x))) step.flag(layer);
        if (config_.positions == Positions::rope)
            rope.apply(kernels_, turns + uint64_t{row} * rope.row_floats(), x);
        if (kind == HeadKind::k &&
            !write_k(kernels_, step.kv, sequence, layer, s.positions[row], head, padded.of(x)))
            step.flag(layer);
    }
}

}  // namespace kvik
