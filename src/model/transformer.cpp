#include "model/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "base/check.h"
#include "base/thread_pool.h"
#include "kernels/matmul.h"
#include "model/attention.h"
#include "model/find_damage.h"
#include "model/transformer_step.h"

namespace kvik {
namespace {

constexpr uint32_t kCachedGroups = 2048;  // of 32 floats: what waits to be quantised, 256 KiB

ActForms forms_of(Act act, std::initializer_list<const LinearWeights*> linears) {
    ActForms forms;
    for (const LinearWeights* linear : linears)
        if (linear->matrix.n_rows > 0) forms.add(act_forms(act, linear->matrix));
    return forms;
}

ActForms forms_of(const TransformerWeights& weights, Act act) {
    ActForms forms = act_forms(act, weights.head);
    for (const LayerWeights& l : weights.layers)
        forms.add(forms_of(act, {&l.q, &l.k, &l.v, &l.o, &l.gate, &l.up, &l.down}));
    return forms;
}

// The rows that a worker loads for all: whole panels, so that no two write to the same cache lines,
// unless there are fewer panels than workers.
Share loaded_rows(Worker worker, const Activations& x) {
    if (x.n_panels() < worker.count()) return share(worker, x.n_rows());
    const Share panels = share(worker, x.n_panels());
    return {x.first_row(panels.begin), std::min(x.first_row(panels.end), x.n_rows())};
}

}  // namespace

Transformer::Transformer(ModelConfig config, ModelSpec spec, TransformerWeights weights,
                         const KernelTable& kernels, Act act)
    : config_(std::move(config)),
      spec_(std::move(spec)),
      weights_(std::move(weights)),
      kernels_(kernels),
      act_(act),
      forms_(forms_of(weights_, act)),
      rope_(config_.rope),
      local_rope_(config_.local_rope) {
    for (const LayerWeights& l : weights_.layers) {
        qkv_forms_.push_back(forms_of(act, {&l.q, &l.k, &l.v}));
        mlp_forms_.push_back(forms_of(act, {&l.gate, &l.up}));
    }
}

Result<std::unique_ptr<Scratch>> Transformer::make_scratch(const ScratchLimits& limits,
                                                           ThreadPool& pool) const {
    KVIK_TRY(std::unique_ptr<Scratch> scratch,
             TransformerScratch::make(config_, forms_, limits, pool));
    return scratch;
}

Result<void> Transformer::forward(const Batch& batch, const KvView& kv, Scratch& scratch,
                                  std::span<float> logits) const {
    auto& s = static_cast<TransformerScratch&>(scratch);
    KVIK_CHECK(batch.tokens.size() <= s.limits.n_rows, "a batch fits its scratch");
    KVIK_CHECK(logits.size() == batch.logits_rows.size() * config_.vocab_size,
               "one row of logits for each row that is wanted");
    KVIK_CHECK(kv.spec.n_layers == config_.n_layers &&
                   kv.spec.head_dim == config_.padded_head_dim() &&
                   kv.spec.n_kv_heads == config_.n_kv_heads,
               "the KV storage is this model's");
    if (s.limits.profile) s.limits.profile->begin_step();
    s.prepare(batch, config_, s.pool->n_active());
    s.pool->run([&](Worker worker) {
        WorkShare work(worker, s.taken);
        run({worker, batch, kv, s, logits, work});
    });
    if (s.limits.profile) s.limits.profile->end_step();
    const uint32_t bad = s.bad_layer.load(std::memory_order_relaxed);
    if (bad == 0) return {};
    const std::string damage = find_damage(weights_, config_);
    if (damage.empty())
        return fail(ErrorKind::failed,
                    fmt::format("layer {} of {} computes NaN or infinite numbers, and no weight is "
                                "one: the model needs types with more range, try --kv f32 and "
                                "KVIK_ACT=f32; kvik show --check MODEL reads every weight",
                                bad - 1, config_.n_layers));
    return fail(
        ErrorKind::failed,
        fmt::format("layer {} of {} computes NaN or infinite numbers, because {} hold such: "
                    "the file is damaged, kvik show --check MODEL names the tensor; fetch "
                    "or convert the model again",
                    bad - 1, config_.n_layers, damage));
}

void Transformer::run(const Step& step) const {
    const Worker& worker = step.worker;
    TransformerScratch& s = step.s;
    const uint32_t q_size = config_.n_heads * config_.head_dim;
    Stream stream = {.x = s.x, .next = s.x_next};
    step.begin();
    embed(step);
    step.end(StepPart::embed);
    worker.barrier();
    for (uint32_t i = 0; i < config_.n_layers; ++i) {
        const LayerWeights& layer = weights_.layers[i];
        project_qkv(step, i, load_normed(step, stream, layer.attn_norm, i, qkv_forms_[i]));
        step.end(StepPart::qkv);
        worker.barrier();
        attend(worker, kernels_, config_, step.batch, step.kv, i, s);
        step.end(StepPart::attention);
        worker.barrier();
        project(step, layer.o, load(step, s.attended, q_size, i, act_forms(act_, layer.o.matrix)),
                s.delta);
        step.end(StepPart::output);
        worker.barrier();
        stream.add(s.delta, layer.attn_post_norm);
        const Activations& x = load_normed(step, stream, layer.ffn_norm, i, mlp_forms_[i]);
        mlp(step, i, x);
        step.end(StepPart::down);
        worker.barrier();
        stream.add(s.delta, layer.ffn_post_norm);
    }
    head(step, stream);
    step.end(StepPart::head);
}

void Transformer::embed(const Step& step) const {
    const Share rows = share(step.worker, step.n_rows());
    const uint32_t width = config_.hidden_size;
    TransformerScratch& s = step.s;
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
        float* x = s.x + uint64_t{row} * width;
        decode_packed_row(weights_.embedding, static_cast<uint32_t>(step.batch.tokens[row]), x);
        if (config_.embedding_scale != 1.0f)
            for (uint32_t i = 0; i < width; ++i) x[i] *= config_.embedding_scale;
        if (config_.positions == Positions::learned) {
            float* place = step.own().row;
            decode_packed_row(weights_.positions, s.positions[row], place);
            for (uint32_t i = 0; i < width; ++i) x[i] += place[i];
            continue;
        }
        rope_.fill_row(s.positions[row], s.rope + uint64_t{row} * rope_.row_floats());
        local_rope_.fill_row(s.positions[row],
                             s.local_rope + uint64_t{row} * local_rope_.row_floats());
    }
}

float Transformer::norm_row(const NormWeights& weights, const float* x, uint32_t n,
                            float* y) const {
    return config_.norm == Norm::rms
               ? kernels_.rms_norm(x, weights.scale, config_.norm_eps, n, y)
               : kernels_.layer_norm(x, weights.scale, weights.bias, config_.norm_eps, n, y);
}

// The row of the stream with what was added to it, in `keep` if there was something.
const float* Transformer::settled_row(const Step& step, const Stream& stream, uint32_t row,
                                      float* keep) const {
    const uint32_t width = config_.hidden_size;
    const float* x = stream.x + uint64_t{row} * width;
    if (!stream.delta) return x;
    const float* delta = stream.delta + uint64_t{row} * width;
    if (stream.post->scale) {
        norm_row(*stream.post, delta, width, step.own().row);
        delta = step.own().row;
    }
    for (uint32_t i = 0; i < width; ++i) keep[i] = x[i] + delta[i];
    return keep;
}

// load_row(row, x, is_owner): every row has one owner, which may write what others do not read.
template <class LoadRow>
const Activations& Transformer::load_rows(const Step& step, uint32_t width, ActForms forms,
                                          const LoadRow& load_row) const {
    const uint32_t n_rows = step.n_rows();
    if (n_rows <= kPanelCols) {
        Activations& x = step.own().activations;
        x.reset(n_rows, width, forms);
        for (uint32_t row = 0; row < n_rows; ++row)
            load_row(row, x, row % step.worker.count() == step.worker.index());
        step.end(StepPart::norm);
        return x;
    }
    Activations& x = step.own().shared;  // the last to read it have passed a barrier
    x.reset(n_rows, width, forms);
    const Share rows = loaded_rows(step.worker, x);
    for (uint32_t row = rows.begin; row < rows.end; ++row) load_row(row, x, true);
    step.end(StepPart::norm);
    step.worker.barrier();
    return x;
}

const Activations& Transformer::load(const Step& step, const float* rows, uint32_t width,
                                     uint32_t layer, ActForms forms) const {
    return load_rows(step, width, forms, [&](uint32_t row, Activations& x, bool) {
        if (!x.load_row(kernels_, row, rows + uint64_t{row} * width)) step.flag(layer);
    });
}

const Activations& Transformer::load_normed(const Step& step, Stream& stream,
                                            const NormWeights& norm, uint32_t layer,
                                            ActForms forms) const {
    const uint32_t width = config_.hidden_size;
    WorkerScratch& own = step.own();
    const Activations& loaded =
        load_rows(step, width, forms, [&](uint32_t row, Activations& x, bool is_owner) {
            float* keep = is_owner ? stream.next + uint64_t{row} * width : own.settled;
            const float* in = settled_row(step, stream, row, keep);
            if (!std::isfinite(norm_row(norm, in, width, own.row))) step.flag(layer);
            if (!x.load_row(kernels_, row, own.row)) step.flag(layer);
        });
    stream.settled();
    return loaded;
}

void Transformer::project(const Step& step, const LinearWeights& linear, const Activations& x,
                          float* out) const {
    step.work.each(n_pairs(linear.matrix),
                   [&](Share pairs) { project_pairs(step, linear, pairs, x, out); });
}

void Transformer::project_pairs(const Step& step, const LinearWeights& linear, Share pairs,
                                const Activations& x, float* out) const {
    const PairProduct product(kernels_, act_, linear.matrix, x, step.own().tiles);
    product.into(pairs.begin, pairs.end, linear.bias, out);
}

// Where down takes groups of 32, whoever computes the activations of a group quantises them while
// they are in its cache; else every row is loaded when all of it is there.
void Transformer::mlp(const Step& step, uint32_t layer, const Activations& x) const {
    const LayerWeights& weights = weights_.layers[layer];
    TransformerScratch& s = step.s;
    const uint32_t width = config_.ff_size;
    const ActForms forms = act_forms(act_, weights.down.matrix);
    if (config_.mlp == Mlp::gelu) {
        only_up(step, weights, x);
    } else {
        const PairProduct product(kernels_, act_, weights.gate.matrix, weights.up.matrix, x,
                                  step.own().tiles);
        if (forms.quantised) {
            Activations& ff = step.own().shared_ff;
            ff.reset(step.n_rows(), width, forms);
            const uint32_t at_once = std::max(8u, kCachedGroups / step.n_rows());
            step.work.each(width / kGroup, [&](Share groups) {
                for (uint32_t g = groups.begin; g < groups.end; g += at_once) {
                    const uint32_t n = std::min(at_once, groups.end - g);
                    gate_and_up(step, weights, {2 * g, 2 * (g + n)}, product);
                    step.end(StepPart::gate_up);
                    for (uint32_t row = 0; row < step.n_rows(); ++row)
                        if (!ff.load_groups(kernels_, row, g, n,
                                            s.ff + uint64_t{row} * width + g * kGroup))
                            step.flag(layer);
                    step.end(StepPart::norm);
                }
            });
            step.worker.barrier();
            return project(step, weights.down, ff, s.delta);
        }
        step.work.each(product.n_pairs(),
                       [&](Share pairs) { gate_and_up(step, weights, pairs, product); });
    }
    step.end(StepPart::gate_up);
    step.worker.barrier();
    project(step, weights.down, load(step, s.ff, width, layer, forms), s.delta);
}

// A pair is a tile of the gate and the same tile of up.
void Transformer::gate_and_up(const Step& step, const LayerWeights& layer, Share pairs,
                              const PairProduct& product) const {
    const uint32_t width = layer.gate.matrix.n_rows;
    const auto activate = config_.mlp == Mlp::silu_gated ? kernels_.silu_mul : kernels_.gelu_mul;
    product.each(pairs.begin, pairs.end,
                 [&](uint32_t tile, uint32_t row, uint32_t n, const float* out) {
                     const uint32_t first = tile * kTileRows;
                     const uint32_t count = std::min(kTileRows, width - first);
                     for (uint32_t c = 0; c < n; ++c) {
                         const float* gate = out + c * kSinkStride;
                         activate(gate, gate + kTileRows, count,
                                  step.s.ff + uint64_t{row + c} * width + first);
                     }
                 });
}

// A plain MLP: the outputs of a worker's own tiles go through the activation in place.
void Transformer::only_up(const Step& step, const LayerWeights& layer, const Activations& x) const {
    step.work.each(n_pairs(layer.up.matrix), [&](Share pairs) {
        project_pairs(step, layer.up, pairs, x, step.s.ff);
        const uint32_t first = std::min(2 * pairs.begin * kTileRows, config_.ff_size);
        const uint32_t end = std::min(2 * pairs.end * kTileRows, config_.ff_size);
        for (uint32_t row = 0; row < step.n_rows(); ++row) {
            float* ff = step.s.ff + uint64_t{row} * config_.ff_size + first;
            kernels_.gelu(ff, end - first, ff);
        }
    });
}

}  // namespace kvik
