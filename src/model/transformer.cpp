#include "model/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/thread_pool.h"
#include "kernels/matmul.h"
#include "kernels/note_tiles.h"
#include "model/attention.h"
#include "model/check.h"
#include "model/step_profile.h"
#include "model/work_share.h"

namespace kvik {
// What the phases of one forward share. Each worker has a Step and a Residual of its own, over the
// same memory.
struct Transformer::Step {
    Worker worker;
    const Batch& batch;
    const KvView& kv;
    TransformerScratch& s;
    std::span<float> logits;
    WorkShare& work;

    uint32_t n_rows() const { return static_cast<uint32_t>(batch.tokens.size()); }
    WorkerScratch& own() const { return s.workers[worker.index()]; }
    void begin() const {
        if (s.limits.profile) s.limits.profile->begin(worker);
    }
    void end(StepPart part) const {
        if (s.limits.profile) s.limits.profile->end(worker, part);
    }
    void flag(uint32_t layer) const { s.flag(layer); }
};

// The residual stream of a worker: x plus an update that is not added yet. The next norm adds it
// (a fused residual add + norm): the owner of a row writes the sum to `next`, which then becomes x.
struct Transformer::Residual {
    float* x;
    float* next;
    const float* update = nullptr;      // [n_rows, hidden_size]; null: nothing is to be added
    const NormWeights* post = nullptr;  // norm of the update before it is added; may have no scale

    void add_later(const float* rows, const NormWeights& norm) {
        update = rows;
        post = &norm;
    }
    void added() {
        if (!update) return;
        std::swap(x, next);
        update = nullptr;
    }
};

inline uint32_t n_pairs(const PackedMatrix& matrix) {
    return (matrix.n_tiles() + 1) / 2;
}

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
ItemRange loaded_rows(Worker worker, const Activations& x) {
    if (x.n_panels() < worker.count()) return share(worker, x.n_rows());
    const ItemRange panels = share(worker, x.n_panels());
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
    Residual residual = {.x = s.x, .next = s.x_next};
    step.begin();
    embed(step);
    step.end(StepPart::embed);
    worker.barrier();
    for (uint32_t i = 0; i < config_.n_layers; ++i) {
        const LayerWeights& layer = weights_.layers[i];
        project_qkv(step, i, load_normed(step, residual, layer.attn_norm, i, qkv_forms_[i]));
        step.end(StepPart::qkv);
        worker.barrier();
        attend(worker, kernels_, config_, step.batch, step.kv, i, s);
        step.end(StepPart::attention);
        worker.barrier();
        project(step, layer.o, load(step, s.attended, q_size, i, act_forms(act_, layer.o.matrix)),
                s.update);
        step.end(StepPart::output);
        worker.barrier();
        residual.add_later(s.update, layer.attn_post_norm);
        const Activations& x = load_normed(step, residual, layer.ffn_norm, i, mlp_forms_[i]);
        mlp(step, i, x);
        step.end(StepPart::down);
        worker.barrier();
        residual.add_later(s.update, layer.ffn_post_norm);
    }
    head(step, residual);
    step.end(StepPart::head);
}

void Transformer::embed(const Step& step) const {
    const ItemRange rows = share(step.worker, step.n_rows());
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

// Returns the row of the residual stream with the update added: in `keep` if there is an update.
const float* Transformer::residual_row(const Step& step, const Residual& residual, uint32_t row,
                                       float* keep) const {
    const uint32_t width = config_.hidden_size;
    const float* x = residual.x + uint64_t{row} * width;
    if (!residual.update) return x;
    const float* update = residual.update + uint64_t{row} * width;
    if (residual.post->scale) {
        norm_row(*residual.post, update, width, step.own().row);
        update = step.own().row;
    }
    for (uint32_t i = 0; i < width; ++i) keep[i] = x[i] + update[i];
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
    const ItemRange rows = loaded_rows(step.worker, x);
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

const Activations& Transformer::load_normed(const Step& step, Residual& residual,
                                            const NormWeights& norm, uint32_t layer,
                                            ActForms forms) const {
    const uint32_t width = config_.hidden_size;
    WorkerScratch& own = step.own();
    const Activations& loaded =
        load_rows(step, width, forms, [&](uint32_t row, Activations& x, bool is_owner) {
            float* keep = is_owner ? residual.next + uint64_t{row} * width : own.residual_row;
            const float* in = residual_row(step, residual, row, keep);
            if (norm.scale) {
                if (!std::isfinite(norm_row(norm, in, width, own.row))) step.flag(layer);
                in = own.row;
            }
            if (!x.load_row(kernels_, row, in)) step.flag(layer);
        });
    residual.added();
    return loaded;
}

void Transformer::project(const Step& step, const LinearWeights& linear, const Activations& x,
                          float* out) const {
    step.work.each(n_pairs(linear.matrix),
                   [&](ItemRange pairs) { project_pairs(step, linear, pairs, x, out); });
}

void Transformer::project_pairs(const Step& step, const LinearWeights& linear, ItemRange pairs,
                                const Activations& x, float* out) const {
    const TileGemm product(kernels_, act_, linear.matrix, x, step.own().tiles);
    product.into(pairs.begin, pairs.end, linear.bias, out);
}

// Where down takes groups of 32, whoever computes the activations of a group quantises them while
// they are in its cache; else every row is loaded when all of it is there.
void Transformer::mlp(const Step& step, uint32_t layer, const Activations& x) const {
    const LayerWeights& weights = weights_.layers[layer];
    TransformerScratch& s = step.s;
    const uint32_t width = config_.intermediate_size;
    const ActForms forms = act_forms(act_, weights.down.matrix);
    if (config_.mlp == Mlp::gelu) {
        only_up(step, weights, x);
    } else {
        const TileGemm product(kernels_, act_, weights.gate.matrix, weights.up.matrix, x,
                               step.own().tiles);
        if (forms.quantised) {
            Activations& ff = step.own().shared_ff;
            ff.reset(step.n_rows(), width, forms);
            const uint32_t at_once = std::max(8u, kCachedGroups / step.n_rows());
            step.work.each(width / kGroup, [&](ItemRange groups) {
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
            return project(step, weights.down, ff, s.update);
        }
        step.work.each(product.n_pairs(),
                       [&](ItemRange pairs) { gate_and_up(step, weights, pairs, product); });
    }
    step.end(StepPart::gate_up);
    step.worker.barrier();
    project(step, weights.down, load(step, s.ff, width, layer, forms), s.update);
}

// A pair is a tile of the gate and the same tile of up.
void Transformer::gate_and_up(const Step& step, const LayerWeights& layer, ItemRange pairs,
                              const TileGemm& product) const {
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
    step.work.each(n_pairs(layer.up.matrix), [&](ItemRange pairs) {
        project_pairs(step, layer.up, pairs, x, step.s.ff);
        const uint32_t first = std::min(2 * pairs.begin * kTileRows, config_.intermediate_size);
        const uint32_t end = std::min(2 * pairs.end * kTileRows, config_.intermediate_size);
        for (uint32_t row = 0; row < step.n_rows(); ++row) {
            float* ff = step.s.ff + uint64_t{row} * config_.intermediate_size + first;
            kernels_.gelu(ff, end - first, ff);
        }
    });
}

// ---- Q, K and V
//
// The worker that computes the last tile pair of a head finishes it (norm, RoPE, write to the KV), so
// that no barrier is needed in between, whichever worker takes which pairs and whatever the width of
// a head is.

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
    step.work.each(n_all, [&](ItemRange all) {
        uint32_t base = 0;
        std::atomic<uint32_t>* done = s.pairs_done.data();
        for (const Target& t : targets) {
            const uint32_t pairs = n_pairs(t.linear.matrix);
            const ItemRange own = {std::max(all.begin, base) - base,
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

// ---- the last norm and the LM head

namespace {

constexpr uint32_t kNotedPairs = 64;  // 2048 logits of a row: still in cache when they are noted

// What is asked of the tiles of `pairs`, for n rows of logits that begin at `logits`.
void note_pairs(const KernelTable& kernels, std::span<const LogitTiles> tiles, ItemRange pairs,
                const float* logits, uint32_t width) {
    const uint32_t first = std::min(2 * pairs.begin * kTileRows, width);
    const uint32_t end = std::min(2 * pairs.end * kTileRows, width);
    if (first == end) return;
    for (size_t i = 0; i < tiles.size(); ++i)
        note_tiles(kernels, logits + i * width + first, end - first, tiles[i].from(first));
}

}  // namespace

// Computes the logits of the wanted rows alone. Every worker adds and norms these rows for itself,
// one panel at a time, which saves a barrier.
void Transformer::head(const Step& step, const Residual& residual) const {
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
            const float* x = residual_row(step, residual, wanted[first + i], own.residual_row);
            if (!std::isfinite(norm_row(weights_.out_norm, x, width, own.row)) ||
                !own.activations.load_row(kernels_, i, own.row))
                step.flag(config_.n_layers - 1);
        }
        float* out = step.logits.data() + uint64_t{first} * n_logits;
        if (first > 0) step.worker.barrier();  // what is shared out belongs to one panel at a time
        step.work.each(n_pairs(linear.matrix), [&](ItemRange mine) {
            for (uint32_t pair = mine.begin; pair < mine.end; pair += kNotedPairs) {
                const ItemRange some = {pair, std::min(pair + kNotedPairs, mine.end)};
                project_pairs(step, linear, some, own.activations, out);
                if (tiles.empty()) continue;
                note_pairs(kernels_, tiles.subspan(first, n), some, out, n_logits);
            }
        });
    }
}

}  // namespace kvik
