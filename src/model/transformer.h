// Transformer: the Model of every decoder-only architecture in arch/; their differences are fields
// of ModelConfig.
//
// Owner   its weights.   Threads  forward is const; see model.h.
// Shape   a layer is five phases between barriers: norm + QKV | RoPE + KV write | attention |
//         O + residual | norm + gate, up, SwiGLU | down + residual.
// Cost    a batch of at most kPanelCols rows is normed and quantised by every worker for itself,
//         which saves a barrier; larger ones share the work.
#pragma once

#include <memory>

#include "kernels/activations.h"
#include "kernels/table.h"
#include "model/config.h"
#include "model/model.h"
#include "model/rope.h"
#include "model/scratch.h"
#include "model/weights.h"

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
    struct Step;  // what the phases of one forward share
    void run(const Step& step) const;
    void embed(const Step& step) const;
    void project_qkv(const Step& step, const LayerWeights& layer, const Activations& x) const;
    void turn_and_store(const Step& step, uint32_t layer) const;
    void add_product(const Step& step, const PackedMatrix& matrix, const Activations& x) const;
    void gate_and_up(const Step& step, const LayerWeights& layer, const Activations& x) const;
    void head(const Step& step) const;

    // Rows on their way into a matrix product: normed unless `norm` is null, in the forms that the
    // matrices read.
    struct Input {
        const float* rows;
        uint32_t width;
        const float* norm;
        uint32_t layer;
        ActForms forms;
    };
    const Activations& load(const Step& step, const Input& input) const;

    ModelConfig config_;
    ModelSpec spec_;
    TransformerWeights weights_;
    const KernelTable& kernels_;
    Act act_;
    ActForms forms_;
    Rope rope_;
};

}  // namespace kvik
