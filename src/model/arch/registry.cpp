#include "model/arch/registry.h"

#include <fmt/format.h>

#include <cmath>

#include "formats/byte_cursor.h"
#include "model/arch/plans.h"

namespace kvik {

void apply_traits(const ArchitectureTraits& traits, uint32_t window, ModelConfig& config) {
    config.architecture = traits.name;
    static_cast<ArchitectureMath&>(config) = traits.math;
    if (traits.embedding == EmbeddingScale::sqrt_hidden)
        config.embedding_scale = std::sqrt(static_cast<float>(config.hidden_size));
    config.attention_scale = 1.0f / std::sqrt(static_cast<float>(config.head_dim));
    if (window == 0) return;
    config.windows.assign(config.n_layers, window);
    if (traits.global_every == 0) return;
    for (uint32_t i = traits.global_every - 1; i < config.n_layers; i += traits.global_every)
        config.windows[i] = 0;
}

namespace {

constexpr Architecture kArchitectures[] = {
    {{.name = "llama", .gguf = "llama", .model_type = "llama", .gguf_rope = RopeLayout::adjacent},
     plan_llama},
    {{.name = "mistral", .model_type = "mistral"}, plan_llama},
    {{.name = "ministral", .model_type = "ministral"}, plan_llama},
    {{.name = "qwen2", .gguf = "qwen2", .model_type = "qwen2"}, plan_llama},
    {{.name = "qwen3", .gguf = "qwen3", .model_type = "qwen3"}, plan_llama},
    {{.name = "gemma3",
      .gguf = "gemma3",
      .model_type = "gemma3_text",
      .math = {.mlp = Mlp::gelu_gated},
      .embedding = EmbeddingScale::sqrt_hidden,
      .global_every = 6,
      .local_rope_base = 10000},
     plan_gemma3},
    {{.name = "gpt2",
      .gguf = "gpt2",
      .model_type = "gpt2",
      .math = {.norm = Norm::layer, .mlp = Mlp::gelu, .positions = Positions::learned}},
     plan_gpt2},
};

}  // namespace

std::span<const Architecture> architectures() {
    return kArchitectures;
}

const Architecture* find_architecture(std::string_view name) {
    for (const Architecture& architecture : kArchitectures)
        if (architecture.traits.name == name) return &architecture;
    return nullptr;
}

Result<ArchitectureTraits> traits_named(ModelFormat format, std::string_view name,
                                        std::string_view where) {
    std::string list;
    for (const Architecture& architecture : kArchitectures) {
        const std::string_view known = architecture.traits.name_in(format);
        if (known.empty()) continue;
        if (known == name) return architecture.traits;
        list += fmt::format("{}{}", list.empty() ? "" : ", ", known);
    }
    return fail(ErrorKind::unsupported,
                fmt::format("{} is {}, kvik runs {}: take a model of one of these", where,
                            in_quotes(name), list));
}

}  // namespace kvik
