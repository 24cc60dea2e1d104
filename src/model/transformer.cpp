#include "model/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>

#include "base/check.h"
#include "base/thread_pool.h"
#include "kernels/matmul.h"
#include "model/attention.h"
#include "model/transformer_step.h"

namespace kvik {
namespace {

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

// Copies 16 outputs of each of n rows to out[row * width + first], cut at `width`, with their bias.
void copy_tile(const float* tile, uint32_t n, uint32_t first, uint32_t width, const float* bias,
               float* out) {
    const uint32_t count = std::min(kTileRows, width - first);
    for (uint32_t c = 0; c < n; ++c) {
        float* to = out + uint64_t{c} * width + first;
        const float* from = tile + c * kSinkStride;
        if (!bias) {
            std::memcpy(to, from, count * sizeof(float));
            continue;
        }
        for (uint32_t r = 0; r < count; ++r) to[r] = from[r] + bias[first + r];
    }
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
    KVIK_CHECK(kv.spec.n_layers == config_.n_layers && kv.spec.head_dim == config_.head_dim &&
                   kv.spec.n_kv_heads == config_.n_kv_heads,
               "the KV storage is this model's");
    if (s.limits.profile) s.limits.profile->begin_step();
    s.prepare(batch, config_, s.pool->n_threads());
    s.pool->run([&](Worker worker) { run({worker, batch, kv, s, logits}); });
    if (s.limits.profile) s.limits.profile->end_step();
    const uint32_t bad = s.bad_layer.load(std::memory_order_relaxed);
    if (bad != 0)
        return fail(ErrorKind::failed,
                    fmt::format("an activation of layer {} of {} is NaN or infinite: the weights "
                                "are damaged, or the model needs a type with more range",
                                bad - 1, config_.n_layers));
    return {};
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
        project_qkv(step, layer, load_normed(step, stream, layer.attn_norm, i, qkv_forms_[i]));
        step.end(StepPart::qkv);
        worker.barrier();
        turn_and_store(step, i);
        step.end(StepPart::rope);
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
        config_.mlp == Mlp::gelu ? only_up(step, layer, x) : gate_and_up(step, layer, x);
        step.end(StepPart::gate_up);
        worker.barrier();
        project(step, layer.down,
                load(step, s.ff, config_.ff_size, i, act_forms(act_, layer.down.matrix)), s.delta);
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
    Activations& x = step.s.shared[0];
    if (step.worker.index() == 0) x.reset(n_rows, width, forms);
    step.worker.barrier();
    const Share rows = share(step.worker, n_rows);
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

void Transformer::project_qkv(const Step& step, const LayerWeights& layer,
                              const Activations& x) const {
    struct Target {
        const LinearWeights* linear;
        float* out;
    };
    const Target targets[] = {{&layer.q, step.s.q}, {&layer.k, step.s.k}, {&layer.v, step.s.v}};
    uint32_t n_all = 0;
    for (const Target& t : targets) n_all += n_pairs(t.linear->matrix);
    const Share mine = share(step.worker, n_all);
    uint32_t base = 0;
    for (const Target& t : targets) {
        const uint32_t pairs = n_pairs(t.linear->matrix);
        const Share own = {std::max(mine.begin, base) - base,
                           std::max(std::min(mine.end, base + pairs), base) - base};
        project_pairs(step, *t.linear, own, x, t.out);
        base += pairs;
    }
}

void Transformer::project(const Step& step, const LinearWeights& linear, const Activations& x,
                          float* out) const {
    project_pairs(step, linear, share(step.worker, n_pairs(linear.matrix)), x, out);
}

void Transformer::project_pairs(const Step& step, const LinearWeights& linear, Share pairs,
                                const Activations& x, float* out) const {
    const PackedMatrix& matrix = linear.matrix;
    const uint32_t width = matrix.n_rows;
    for (uint32_t p = pairs.begin; p < pairs.end; ++p) {
        const uint32_t tile = 2 * p, first = tile * kTileRows;
        const bool two = tile + 1 < matrix.n_tiles();
        matmul_tiles(kernels_, act_, {&matrix, tile}, {two ? &matrix : nullptr, tile + 1}, x,
                     step.own().tiles, [&](uint32_t row, uint32_t n, const float* product) {
                         float* to = out + uint64_t{row} * width;
                         copy_tile(product, n, first, width, linear.bias, to);
                         if (two)
                             copy_tile(product + kTileRows, n, first + kTileRows, width,
                                       linear.bias, to);
                     });
    }
}

void Transformer::turn_and_store(const Step& step, uint32_t layer) const {
    TransformerScratch& s = step.s;
    const LayerWeights& weights = weights_.layers[layer];
    const uint32_t dim = config_.head_dim;
    const bool is_local = &config_.rope_of(layer) == &config_.local_rope;
    const Rope& rope = is_local ? local_rope_ : rope_;
    const float* table = is_local ? s.local_rope : s.rope;
    const auto finish_heads = [&](float* heads, uint32_t n, const NormWeights& norm,
                                  const float* turns) {
        for (uint32_t h = 0; h < n; ++h, heads += dim) {
            if (norm.scale && !std::isfinite(norm_row(norm, heads, dim, heads))) step.flag(layer);
            if (config_.positions == Positions::rope) rope.apply(kernels_, turns, heads);
        }
    };
    const Share rows = share(step.worker, step.n_rows());
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
        const float* turns = table + uint64_t{row} * rope.row_floats();
        float* q = s.q + uint64_t{row} * config_.n_heads * dim;
        float* k = s.k + uint64_t{row} * config_.n_kv_heads * dim;
        finish_heads(q, config_.n_heads, weights.q_norm, turns);
        finish_heads(k, config_.n_kv_heads, weights.k_norm, turns);
        write_kv(kernels_, step.kv, step.batch.sequences[s.sequence_of[row]], layer,
                 s.positions[row], k, s.v + uint64_t{row} * config_.n_kv_heads * dim);
    }
}

void Transformer::gate_and_up(const Step& step, const LayerWeights& layer,
                              const Activations& x) const {
    const uint32_t width = config_.ff_size;
    const auto activate = config_.mlp == Mlp::silu_gated ? kernels_.silu_mul : kernels_.gelu_mul;
    const Share mine = share(step.worker, layer.gate.matrix.n_tiles());
    for (uint32_t tile = mine.begin; tile < mine.end; ++tile) {
        const uint32_t first = tile * kTileRows;
        const uint32_t count = std::min(kTileRows, width - first);
        matmul_tiles(kernels_, act_, {&layer.gate.matrix, tile}, {&layer.up.matrix, tile}, x,
                     step.own().tiles, [&](uint32_t row, uint32_t n, const float* out) {
                         for (uint32_t c = 0; c < n; ++c) {
                             const float* gate = out + c * kSinkStride;
                             activate(gate, gate + kTileRows, count,
                                      step.s.ff + uint64_t{row + c} * width + first);
                         }
                     });
    }
}

// A plain MLP: the outputs of a worker's own tiles go through the activation in place.
void Transformer::only_up(const Step& step, const LayerWeights& layer, const Activations& x) const {
    const Share mine = share(step.worker, n_pairs(layer.up.matrix));
    project_pairs(step, layer.up, mine, x, step.s.ff);
    const uint32_t first = std::min(2 * mine.begin * kTileRows, config_.ff_size);
    const uint32_t end = std::min(2 * mine.end * kTileRows, config_.ff_size);
    for (uint32_t row = 0; row < step.n_rows(); ++row) {
        float* ff = step.s.ff + uint64_t{row} * config_.ff_size + first;
        kernels_.gelu(ff, end - first, ff);
    }
}

}  // namespace kvik
