#include "model/load.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/digest.h"
#include "kernels/numerics.h"
#include "model/arch/registry.h"
#include "model/source.h"
#include "model/tied_lm_head.h"
#include "model/transformer.h"
#include "model/weight_loader.h"

namespace kvik {
namespace {

std::string text_of(const RopeConfig& rope) {
    std::string text = fmt::format("{:a} {:a} {} {}", rope.base, rope.linear_factor, rope.n_dims,
                                   rope.layout == RopeLayout::adjacent ? "adjacent" : "halves");
    for (const double divisor : rope.divisors) text += fmt::format(" {:a}", divisor);
    return text;
}

// All of the weights' side that KV depends on (law 4 of the cache): whoever adds a field to
// ModelConfig that changes KV adds it here.
std::string fingerprint(const ModelConfig& config, const std::string& weights_digest, Act act) {
    std::string text = fmt::format(
        "kvik numerics {}\nweights {}\nact {}\narchitecture {}\nheads {} {} {}\neps {:a}\n"
        "kinds {} {} {}\nscales {:a} {:a}\nrope {}\nlocal rope {}\nwindows",
        numerics::kRevision, weights_digest, act == Act::int8 ? "int8" : "f32", config.architecture,
        config.n_heads, config.n_kv_heads, config.head_dim, config.norm_eps,
        static_cast<int>(config.norm), static_cast<int>(config.mlp),
        static_cast<int>(config.positions), config.embedding_scale, config.attention_scale,
        text_of(config.rope), text_of(config.local_rope));
    for (const uint32_t window : config.windows) text += fmt::format(" {}", window);
    Sha256 digest;
    digest.update(std::as_bytes(std::span(text)));
    return digest.hex();
}

}  // namespace

Result<void> check_limits(const ModelConfig& config, const std::string& path) {
    if (config.head_dim > kMaxHeadDim)
        return fail(ErrorKind::unsupported,
                    fmt::format("{}: has heads of {} dimensions, kvik runs models with at most {}: "
                                "use a model with smaller heads",
                                path, config.head_dim, kMaxHeadDim));
    return {};
}

Result<LoadedModel> load_model(const LoadOptions& options) {
    KVIK_CHECK(options.kernels && options.pool, "loading needs kernels and threads");
    KVIK_TRY(ModelSource source, open_source(options.path));
    KVIK_TRY_VOID(resolve_tied_head(source, options.path));
    ModelConfig& config = source.config;
    KVIK_TRY_VOID(check_limits(config, options.path));
    const Architecture* architecture = find_architecture(config.architecture);
    KVIK_CHECK(architecture, "a reader accepts only registered architectures");
    TransformerWeights weights;
    WeightPlan plan(source.format);
    architecture->plan(config, weights, plan);
    KVIK_TRY(const PackedWeights packed, pack_weights(*source.tensors, options.path, plan, weights,
                                                      *options.pool, options.progress));
    if (config.tied_lm_head) weights.head = weights.embedding;

    ModelSpec spec;
    spec.architecture = config.architecture;
    spec.name = config.name;
    spec.vocab_size = config.vocab_size;
    spec.context_length = config.context_length;
    spec.kv.n_layers = config.n_layers;
    spec.kv.n_kv_heads = config.n_kv_heads;
    spec.kv.head_dim = config.padded_head_dim();
    if (!config.windows.empty()) spec.kv.groups = KvGroups::of(config.windows);
    spec.n_parameters = packed.n_parameters;
    spec.weight_bytes = packed.n_bytes;
    spec.fingerprint = fingerprint(config, packed.digest, options.act);
    LoadedModel loaded;
    loaded.words = std::move(source.words);
    loaded.notes = std::move(source.notes);
    loaded.model = std::make_unique<Transformer>(std::move(config), std::move(spec),
                                                 std::move(weights), *options.kernels, options.act);
    return loaded;
}

}  // namespace kvik
