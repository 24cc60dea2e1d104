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

namespace kvik {
namespace {

ActForms forms_of(Act act, std::initializer_list<const PackedMatrix*> matrices) {
    ActForms forms;
    for (const PackedMatrix* matrix : matrices) forms.add(act_forms(act, *matrix));
    return forms;
}

ActForms forms_of(const TransformerWeights& weights, Act act) {
    ActForms forms = act_forms(act, weights.head);
    for (const LayerWeights& l : weights.layers)
        forms.add(forms_of(act, {&l.q, &l.k, &l.v, &l.o, &l.gate, &l.up, &l.down}));
    return forms;
}

// Worker w's share of n things, contiguous.
struct Share {
    uint32_t begin, end;
};
Share share(Worker w, uint32_t n) {
    return {static_cast<uint32_t>(uint64_t{n} * w.index() / w.count()),
            static_cast<uint32_t>(uint64_t{n} * (w.index() + 1) / w.count())};
}

// Copies 16 outputs of each of n rows to out[row * width + first], cut at `width`.
void copy_tile(const float* tile, uint32_t n, uint32_t first, uint32_t width, float* out) {
    const uint32_t count = std::min(kTileRows, width - first);
    for (uint32_t c = 0; c < n; ++c)
        std::memcpy(out + uint64_t{c} * width + first, tile + c * kSinkStride,
                    count * sizeof(float));
}

void add_tile(const float* tile, uint32_t n, uint32_t first, uint32_t width, float* out) {
    const uint32_t count = std::min(kTileRows, width - first);
    for (uint32_t c = 0; c < n; ++c)
        for (uint32_t r = 0; r < count; ++r)
            out[uint64_t{c} * width + first + r] += tile[c * kSinkStride + r];
}

}  // namespace

struct Transformer::Step {
    Worker worker;
    const Batch& batch;
    const KvView& kv;
    TransformerScratch& s;
    std::span<float> logits;

    uint32_t n_rows() const { return static_cast<uint32_t>(batch.tokens.size()); }
    WorkerScratch& own() const { return s.workers[worker.index()]; }
    // The first one stays: what follows it is only its consequence.
    void flag(uint32_t layer) const {
        uint32_t none = 0;
        s.bad_layer.compare_exchange_strong(none, layer + 1, std::memory_order_relaxed);
    }
};

Transformer::Transformer(ModelConfig config, ModelSpec spec, TransformerWeights weights,
                         const KernelTable& kernels, Act act)
    : config_(std::move(config)),
      spec_(std::move(spec)),
      weights_(std::move(weights)),
      kernels_(kernels),
      act_(act),
      forms_(forms_of(weights_, act)),
      rope_(config_.rope) {}

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
    s.prepare(batch, config_, s.pool->n_threads());
    s.pool->run([&](Worker worker) { run({worker, batch, kv, s, logits}); });
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
    embed(step);
    worker.barrier();
    for (uint32_t i = 0; i < config_.n_layers; ++i) {
        const LayerWeights& layer = weights_.layers[i];
        project_qkv(step, layer,
                    load(step, {s.x, config_.hidden_size, layer.attn_norm, i,
                                forms_of(act_, {&layer.q, &layer.k, &layer.v})}));
        worker.barrier();
        turn_and_store(step, i);
        worker.barrier();
        attend(worker, kernels_, config_, step.batch, step.kv, i, s);
        worker.barrier();
        add_product(step, layer.o,
                    load(step, {s.attended, q_size, nullptr, i, act_forms(act_, layer.o)}));
        worker.barrier();
        gate_and_up(step, layer,
                    load(step, {s.x, config_.hidden_size, layer.ffn_norm, i,
                                forms_of(act_, {&layer.gate, &layer.up})}));
        worker.barrier();
        add_product(step, layer.down,
                    load(step, {s.ff, config_.ff_size, nullptr, i, act_forms(act_, layer.down)}));
        worker.barrier();
    }
    head(step);
}

void Transformer::embed(const Step& step) const {
    const Share rows = share(step.worker, step.n_rows());
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
        decode_packed_row(weights_.embedding, static_cast<uint32_t>(step.batch.tokens[row]),
                          step.s.x + uint64_t{row} * config_.hidden_size);
        rope_.fill_row(step.s.positions[row], step.s.rope + uint64_t{row} * rope_.row_floats());
    }
}

const Activations& Transformer::load(const Step& step, const Input& input) const {
    const uint32_t n_rows = step.n_rows();
    const auto load_rows = [&](Activations& x, Share rows) {
        WorkerScratch& own = step.own();
        for (uint32_t row = rows.begin; row < rows.end; ++row) {
            const float* in = input.rows + uint64_t{row} * input.width;
            if (input.norm) {
                const float ss =
                    kernels_.rms_norm(in, input.norm, config_.rms_eps, input.width, own.row);
                if (!std::isfinite(ss)) step.flag(input.layer);
                in = own.row;
            }
            if (!x.load_row(kernels_, row, in)) step.flag(input.layer);
        }
    };
    if (n_rows <= kPanelCols) {
        Activations& x = step.own().activations;
        x.reset(n_rows, input.width, input.forms);
        load_rows(x, {0, n_rows});
        return x;
    }
    Activations& x = step.s.shared[0];
    if (step.worker.index() == 0) x.reset(n_rows, input.width, input.forms);
    step.worker.barrier();
    load_rows(x, share(step.worker, n_rows));
    step.worker.barrier();
    return x;
}

void Transformer::project_qkv(const Step& step, const LayerWeights& layer,
                              const Activations& x) const {
    struct Target {
        const PackedMatrix* matrix;
        float* out;
    };
    const Target targets[] = {{&layer.q, step.s.q}, {&layer.k, step.s.k}, {&layer.v, step.s.v}};
    uint32_t n_pairs = 0;
    for (const Target& t : targets) n_pairs += (t.matrix->n_tiles() + 1) / 2;
    const Share mine = share(step.worker, n_pairs);
    uint32_t base = 0;
    for (const Target& t : targets) {
        const uint32_t pairs = (t.matrix->n_tiles() + 1) / 2;
        for (uint32_t p = std::max(mine.begin, base); p < std::min(mine.end, base + pairs); ++p) {
            const uint32_t tile = 2 * (p - base);
            const bool two = tile + 1 < t.matrix->n_tiles();
            const uint32_t width = t.matrix->n_rows;
            matmul_tiles(kernels_, act_, {t.matrix, tile}, {two ? t.matrix : nullptr, tile + 1}, x,
                         step.own().tiles, [&](uint32_t row, uint32_t n, const float* out) {
                             float* to = t.out + uint64_t{row} * width;
                             copy_tile(out, n, tile * kTileRows, width, to);
                             if (two)
                                 copy_tile(out + kTileRows, n, (tile + 1) * kTileRows, width, to);
                         });
        }
        base += pairs;
    }
}

void Transformer::turn_and_store(const Step& step, uint32_t layer) const {
    TransformerScratch& s = step.s;
    const uint32_t dim = config_.head_dim;
    const Share rows = share(step.worker, step.n_rows());
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
        const float* turns = s.rope + uint64_t{row} * rope_.row_floats();
        float* q = s.q + uint64_t{row} * config_.n_heads * dim;
        float* k = s.k + uint64_t{row} * config_.n_kv_heads * dim;
        for (uint32_t h = 0; h < config_.n_heads; ++h) rope_.apply(turns, q + h * dim);
        for (uint32_t h = 0; h < config_.n_kv_heads; ++h) rope_.apply(turns, k + h * dim);
        write_kv(kernels_, step.kv, step.batch.sequences[s.sequence_of[row]], layer,
                 s.positions[row], k, s.v + uint64_t{row} * config_.n_kv_heads * dim);
    }
}

void Transformer::add_product(const Step& step, const PackedMatrix& matrix,
                              const Activations& x) const {
    const uint32_t width = matrix.n_rows;
    const Share mine = share(step.worker, (matrix.n_tiles() + 1) / 2);
    for (uint32_t p = mine.begin; p < mine.end; ++p) {
        const uint32_t tile = 2 * p;
        const bool two = tile + 1 < matrix.n_tiles();
        matmul_tiles(kernels_, act_, {&matrix, tile}, {two ? &matrix : nullptr, tile + 1}, x,
                     step.own().tiles, [&](uint32_t row, uint32_t n, const float* out) {
                         float* to = step.s.x + uint64_t{row} * width;
                         add_tile(out, n, tile * kTileRows, width, to);
                         if (two) add_tile(out + kTileRows, n, (tile + 1) * kTileRows, width, to);
                     });
    }
}

void Transformer::gate_and_up(const Step& step, const LayerWeights& layer,
                              const Activations& x) const {
    const uint32_t width = config_.ff_size;
    const Share mine = share(step.worker, layer.gate.n_tiles());
    for (uint32_t tile = mine.begin; tile < mine.end; ++tile) {
        const uint32_t first = tile * kTileRows;
        const uint32_t count = std::min(kTileRows, width - first);
        matmul_tiles(kernels_, act_, {&layer.gate, tile}, {&layer.up, tile}, x, step.own().tiles,
                     [&](uint32_t row, uint32_t n, const float* out) {
                         for (uint32_t c = 0; c < n; ++c) {
                             const float* gate = out + c * kSinkStride;
                             kernels_.silu_mul(gate, gate + kTileRows, count,
                                               step.s.ff + uint64_t{row + c} * width + first);
                         }
                     });
    }
}

// The head sees only the rows whose logits are wanted. They are normed by every worker for itself,
// a panel at a time.
void Transformer::head(const Step& step) const {
    const auto wanted = step.batch.logits_rows;
    const PackedMatrix& matrix = weights_.head;
    WorkerScratch& own = step.own();
    const Share mine = share(step.worker, (matrix.n_tiles() + 1) / 2);
    for (uint32_t first = 0; first < wanted.size(); first += kPanelCols) {
        const auto n = std::min<uint32_t>(kPanelCols, static_cast<uint32_t>(wanted.size()) - first);
        own.activations.reset(n, config_.hidden_size, act_forms(act_, matrix));
        for (uint32_t i = 0; i < n; ++i) {
            const float* x = step.s.x + uint64_t{wanted[first + i]} * config_.hidden_size;
            const float ss =
                kernels_.rms_norm(x, weights_.out_norm, static_cast<float>(config_.rms_eps),
                                  config_.hidden_size, own.row);
            if (!std::isfinite(ss) || !own.activations.load_row(kernels_, i, own.row))
                step.flag(config_.n_layers - 1);
        }
        for (uint32_t p = mine.begin; p < mine.end; ++p) {
            const uint32_t tile = 2 * p;
            const bool two = tile + 1 < matrix.n_tiles();
            matmul_tiles(
                kernels_, act_, {&matrix, tile}, {two ? &matrix : nullptr, tile + 1},
                own.activations, own.tiles, [&](uint32_t, uint32_t cols, const float* out) {
                    float* to = step.logits.data() + uint64_t{first} * matrix.n_rows;
                    copy_tile(out, cols, tile * kTileRows, matrix.n_rows, to);
                    if (two)
                        copy_tile(out + kTileRows, cols, (tile + 1) * kTileRows, matrix.n_rows, to);
                });
        }
    }
}

}  // namespace kvik
