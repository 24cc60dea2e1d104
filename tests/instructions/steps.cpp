// The steps whose instructions tests/instructions/count.py counts: tiny models of every weight type,
// one thread, AVX2, always the same tokens.
//
//   count_steps write FOLDER      writes the models
//   count_steps compute FOLDER    computes; prints the name of each measured step, a line each
//
// A step is measured by being computed in measured_step(), which the counter knows by name.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "base/check.h"
#include "cache/kv_storage.h"
#include "kernels/select.h"
#include "model/load.h"
#include "tensor/dtype.h"
#include "testing/tiny_llama.h"

// A function of its own under a name without arguments, so that the counter can tell its calls.
extern "C" [[gnu::noinline, gnu::noclone]] void measured_step(
    const std::function<kvik::Result<void>()>& step, kvik::Result<void>& result) {
    result = step();
}

namespace kvik {
namespace {

constexpr uint32_t kContext = 512, kMostRows = 128, kMostLogitsRows = 8;

template <class T>
T must(Result<T> result) {
    if (result) return std::move(*result);
    fmt::print(stderr, "count_steps: {}\n", result.error().message);
    std::exit(1);
}

enum class Measured : uint8_t { yes, no };

// One sequence of one model.
class Steps {
  public:
    Steps(const std::string& path, ThreadPool& pool, KvType kv_type)
        : model_(must(load_model({.path = path,
                                  .kernels = must(select_kernels("avx2")),
                                  .act = Act::int8,
                                  .pool = &pool,
                                  .progress = {}}))
                     .model),
          storage_(must(open_kv(kv_type))),
          scratch_(must(model_->make_scratch(
              {.n_rows = kMostRows, .n_logits_rows = kMostLogitsRows, .context_length = kContext},
              pool))),
          rows_(kMostLogitsRows),
          logits_(uint64_t{kMostLogitsRows} * model_->spec().vocab_size) {
        for (uint32_t i = 0; i < kContext; ++i)
            tokens_.push_back(static_cast<TokenId>(i * 31 % model_->spec().vocab_size));
        for (uint32_t i = 0; i < storage_.n_blocks(); ++i) blocks_.push_back(BlockId{i});
    }

    void prefill(uint32_t n_tokens) {
        for (uint32_t past = 0; past < n_tokens; past += kMostRows)
            must_run(past, std::min(kMostRows, n_tokens - past), 0, Measured::no);
    }
    // n rows after n_past tokens, the last n_logits_rows of them with logits.
    void measure(const std::string& name, uint32_t n_past, uint32_t n_rows,
                 uint32_t n_logits_rows) {
        must_run(n_past, n_rows, n_logits_rows, Measured::yes);
        fmt::print("{}\n", name);
    }

  private:
    Result<KvStorage> open_kv(KvType type) const {
        KvSpec kv = model_->spec().kv;
        kv.type = type;
        return KvStorage::open(kv, kContext / kv.block_tokens * kv.n_groups());
    }

    void must_run(uint32_t n_past, uint32_t n_rows, uint32_t n_logits_rows, Measured measured) {
        const KvSpec& kv = storage_.spec();
        const SequenceRows sequence{.blocks = blocks_,
                                    .n_past = n_past,
                                    .first_row = 0,
                                    .n_rows = n_rows,
                                    .group_stride = kContext / kv.block_tokens};
        const auto wanted = std::span(rows_).first(n_logits_rows);
        std::iota(wanted.begin(), wanted.end(), n_rows - n_logits_rows);
        const Batch batch{.tokens = std::span(tokens_).subspan(n_past, n_rows),
                          .sequences = std::span(&sequence, 1),
                          .logits_rows = wanted};
        const auto logits =
            std::span(logits_).first(uint64_t{n_logits_rows} * model_->spec().vocab_size);
        const auto step = [&] {
            return model_->forward(batch, storage_.view(), *scratch_, logits);
        };
        Result<void> done;
        if (measured == Measured::yes)
            measured_step(step, done);
        else
            done = step();
        KVIK_CHECK(done.has_value(), "a tiny model computes its steps");
    }

    std::unique_ptr<Model> model_;
    KvStorage storage_;
    std::unique_ptr<Scratch> scratch_;
    std::vector<TokenId> tokens_;
    std::vector<BlockId> blocks_;
    std::vector<uint32_t> rows_;
    std::vector<float> logits_;
};

constexpr DType kTypes[] = {DType::q8_0,   DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1,
                            DType::iq4_nl, DType::q2_k, DType::q3_k, DType::q4_k, DType::q5_k,
                            DType::q6_k,   DType::f16,  DType::bf16, DType::f32};

std::string model_path(const std::string& folder, DType type) {
    return fmt::format("{}/{}.gguf", folder, dtype_info(type).name);
}

void write_models(const std::string& folder) {
    for (const DType type : kTypes)
        KVIK_CHECK(tiny_llama({.n_layers = 1,
                               .hidden_size = 256,
                               .n_heads = 4,
                               .n_kv_heads = 2,
                               .intermediate_size = 512,
                               .vocab_size = 500,
                               .context_length = kContext,
                               .dtype = type})
                       .write(model_path(folder, type)),
                   "the folder can be written to");
}

// Decoding, checking a draft, and prefill: few positions, so that the weights are what counts.
void measure_weights(const std::string& folder, ThreadPool& pool) {
    for (const DType type : kTypes) {
        Steps steps(model_path(folder, type), pool, KvType::f16);
        const std::string_view name = dtype_info(type).name;
        steps.measure(fmt::format("{} prefill 32", name), 0, 32, 1);
        steps.measure(fmt::format("{} decode", name), 32, 1, 1);
        steps.measure(fmt::format("{} 5 rows", name), 32, 5, 5);
    }
}

// Many positions, so that attention is.
void measure_attention(const std::string& folder, ThreadPool& pool) {
    struct Kv {
        std::string_view name;
        KvType type;
    };
    for (const Kv kv : {Kv{"f16", KvType::f16}, Kv{"f32", KvType::f32}, Kv{"q8", KvType::q8}}) {
        Steps steps(model_path(folder, DType::q4_0), pool, kv.type);
        steps.prefill(384);
        steps.measure(fmt::format("{} KV prefill 64 at 384", kv.name), 384, 64, 1);
        steps.measure(fmt::format("{} KV decode at 448", kv.name), 448, 1, 1);
        steps.measure(fmt::format("{} KV 5 rows at 448", kv.name), 448, 5, 5);
    }
}

}  // namespace
}  // namespace kvik

int main(int argc, char** argv) {
    const std::string_view verb = argc == 3 ? argv[1] : "";
    if (verb == "write") {
        kvik::write_models(argv[2]);
    } else if (verb == "compute") {
        kvik::ThreadPool pool(1);
        kvik::measure_weights(argv[2], pool);
        kvik::measure_attention(argv[2], pool);
    } else {
        fmt::print(stderr, "usage: count_steps write|compute FOLDER\n");
        return 2;
    }
    return 0;
}
