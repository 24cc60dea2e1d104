#include "model/load.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/digest.h"
#include "formats/gguf.h"
#include "kernels/numerics.h"
#include "model/arch/registry.h"
#include "model/gguf_config.h"
#include "model/gguf_tokenizer.h"
#include "model/transformer.h"
#include "model/weight_loader.h"

namespace kvik {
namespace {

// All of the weights' side that KV depends on (law 4 of the cache): whoever adds a field to
// ModelConfig that changes KV adds it here.
std::string fingerprint(const ModelConfig& config, const std::string& weights_digest, Act act) {
    std::string text = fmt::format(
        "kvik numerics {}\nweights {}\nact {}\narchitecture {}\nheads {} {} {}\neps {:a}\n"
        "rope {:a} {:a} {} {}\nwindows",
        numerics::kRevision, weights_digest, act == Act::int8 ? "int8" : "f32", config.architecture,
        config.n_heads, config.n_kv_heads, config.head_dim, config.rms_eps, config.rope.base,
        config.rope.linear_factor, config.rope.n_dims,
        config.rope.layout == RopeLayout::adjacent ? "adjacent" : "halves");
    for (const uint32_t window : config.windows) text += fmt::format(" {}", window);
    Sha256 digest;
    digest.update(std::as_bytes(std::span(text)));
    return digest.hex();
}

Result<void> check_limits(const ModelConfig& config, const std::string& path) {
    if (config.head_dim % kTileRows != 0 || config.head_dim > kMaxHeadDim)
        return fail(ErrorKind::unsupported,
                    fmt::format("{}: heads of {} dimensions: the kernels take multiples of {} up "
                                "to {}",
                                path, config.head_dim, kTileRows, kMaxHeadDim));
    return {};
}

}  // namespace

Result<LoadedModel> load_model(const LoadOptions& options) {
    KVIK_CHECK(options.kernels && options.pool, "loading needs kernels and threads");
    KVIK_TRY(const GgufFile file, GgufFile::open(options.path));
    KVIK_TRY(ModelConfig config, config_from_gguf(file, gguf_architectures()));
    KVIK_TRY_VOID(check_limits(config, options.path));
    LoadedModel loaded;
    KVIK_TRY(loaded.tokenizer, tokenizer_from_gguf(file.metadata()));
    KVIK_TRY(loaded.chat_template, chat_template_from_gguf(file.metadata()));

    const Architecture* architecture = find_architecture(config.architecture);
    KVIK_CHECK(architecture, "config_from_gguf accepts only registered architectures");
    TransformerWeights weights;
    WeightPlan plan;
    architecture->plan(config, weights, plan);
    KVIK_TRY(const PackedWeights packed,
             pack_weights(file, options.path, plan, weights, *options.pool, options.progress));
    if (config.tied_head) weights.head = weights.embedding;

    ModelSpec spec;
    spec.architecture = config.architecture;
    spec.name = config.name;
    spec.vocab_size = config.vocab_size;
    spec.context_length = config.context_length;
    spec.kv.n_layers = config.n_layers;
    spec.kv.n_kv_heads = config.n_kv_heads;
    spec.kv.head_dim = config.head_dim;
    spec.n_parameters = packed.n_parameters;
    spec.weight_bytes = packed.n_bytes;
    spec.fingerprint = fingerprint(config, packed.digest, options.act);
    loaded.model = std::make_unique<Transformer>(std::move(config), std::move(spec),
                                                 std::move(weights), *options.kernels, options.act);
    return loaded;
}

}  // namespace kvik
