// Transformer: the Model of every decoder-only architecture in arch/; their differences are fields
// of ModelConfig.
//
// Owner   its weights.   Threads  forward is const; see model.h.
// Shape   a layer is five phases between barriers: norm + QKV + RoPE + KV write | attention | O |
//         norm + gate, up, activation | down. The output of O and of down is a separate update of
//         the residual stream until the next norm adds it (fused residual add + norm), so that no
//         phase reads what another worker writes.
// Cost    every worker adds, norms and quantises all rows of a batch of at most kPanelCols rows for
//         itself, which saves a barrier; the workers share the rows of larger batches.
#pragma once

#include <memory>
#include <vector>

#include "kernels/activations.h"
#include "kernels/table.h"
#include "model/attention.h"
#include "model/config.h"
#include "model/model.h"
#include "model/scratch.h"
#include "model/weight_plan.h"

namespace kvik {

class Transformer : public Model {
  public:
    Transformer(ModelConfig config, ModelSpec spec, TransformerWeights weights,
                const KernelTable& kernels, Act act);

    const ModelSpec& spec() const override { return spec_; }
    Result<std::unique_ptr<Scratch>> make_scratch(const ScratchLimits& limits,
                                                  ThreadPool& pool) const override;
    Result<void> forward(const Batch& batch, const KvView& kv, Scratch& scratch,
                         std::span<float> logits) const override;

  private:
    struct Step;      // what the phases of one forward share
    struct Residual;  // the residual stream on its way through the layers
    void run(const Step& step) const;
    void embed(const Step& step) const;
    void project_qkv(const Step& step, uint32_t layer, const Activations& x) const;
    enum class HeadKind : uint8_t { q, k, v };
    // Norm, RoPE and KV write of a head, for all rows.
    void finish_head(const Step& step, uint32_t layer, HeadKind kind, uint32_t head) const;
    void project(const Step& step, const LinearWeights& linear, const Activations& x,
                 float* out) const;
    // Only the tile pairs of `pairs`.
    void project_pairs(const Step& step, const LinearWeights& linear, ItemRange pairs,
                       const Activations& x, float* out) const;
    // Gate, up and down; what down adds goes to scratch.update.
    void mlp(const Step& step, uint32_t layer, const Activations& x) const;
    void gate_and_up(const Step& step, const LayerWeights& layer, ItemRange pairs,
                     const TileGemm& product) const;
    void only_up(const Step& step, const LayerWeights& layer, const Activations& x) const;
    void head(const Step& step, const Residual& residual) const;

    float norm_row(const NormWeights& weights, const float* x, uint32_t n, float* y) const;
    const float* residual_row(const Step& step, const Residual& residual, uint32_t row,
                              float* keep) const;

    // Rows on their way into a matrix product, in the forms that the matrices read.
    const Activations& load(const Step& step, const float* rows, uint32_t width, uint32_t layer,
                            ActForms forms) const;
    // The same for the normed rows of the residual stream, after the update is added.
    const Activations& load_normed(const Step& step, Residual& residual, const NormWeights& norm,
                                   uint32_t layer, ActForms forms) const;
    template <class LoadRow>
    const Activations& load_rows(const Step& step, uint32_t width, ActForms forms,
                                 const LoadRow& load_row) const;

    ModelConfig config_;
    ModelSpec spec_;
    TransformerWeights weights_;
    const KernelTable& kernels_;
    Act act_;
    ActForms forms_;
    Rope rope_, local_rope_;
    std::vector<ActForms> qkv_forms_, mlp_forms_;  // [n_layers]
};

}  // namespace kvik
