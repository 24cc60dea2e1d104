#include "model/hf_config.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/mapped_file.h"
#include "formats/json.h"
#include "model/arch/registry.h"
#include "model/hf_rope.h"
#include "model/json_fields.h"

namespace kvik {
namespace {

// What a family calls the sizes.
struct SizeNames {
    const char *n_layers, *hidden, *n_heads, *ff, *context, *eps, *activation;
};
constexpr SizeNames kUsual = {
    "num_hidden_layers",       "hidden_size",  "num_attention_heads", "intermediate_size",
    "max_position_embeddings", "rms_norm_eps", "hidden_act"};
constexpr SizeNames kGpt2 = {"n_layer",
                             "n_embd",
                             "n_head",
                             "n_inner",
                             "n_positions",
                             "layer_norm_epsilon",
                             "activation_function"};

SizeNames names_of_sizes(const ArchitectureTraits& traits, const JsonFields& fields) {
    SizeNames names = traits.positions == Positions::learned ? kGpt2 : kUsual;
    if (fields.has("hidden_activation")) names.activation = "hidden_activation";
    return names;
}

ConfigNames names_of(const JsonFields& fields, const SizeNames& sizes) {
    ConfigNames names;
    names.file = fields.file();
    const auto name = [&](ConfigField field, std::string_view key) {
        names[field] = fields.name_of(key);
    };
    name(ConfigField::n_layers, sizes.n_layers);
    name(ConfigField::hidden_size, sizes.hidden);
    name(ConfigField::n_heads, sizes.n_heads);
    name(ConfigField::n_kv_heads, "num_key_value_heads");
    name(ConfigField::head_dim, "head_dim");
    name(ConfigField::ff_size, sizes.ff);
    name(ConfigField::vocab_size, "vocab_size");
    name(ConfigField::context_length, sizes.context);
    name(ConfigField::norm_eps, sizes.eps);
    name(ConfigField::rope_base, "rope_theta");
    name(ConfigField::rope_linear_factor, "factor");
    name(ConfigField::rope_n_dims, "partial_rotary_factor");
    name(ConfigField::window, "sliding_window");
    name(ConfigField::attention_scale, "query_pre_attn_scalar");
    return names;
}

// A field that would change the numbers if it were anything but what is computed.
Result<void> must_be(const JsonFields& fields, std::string_view name, bool wanted) {
    KVIK_TRY(const bool value, fields.flag_or(name, wanted));
    if (value == wanted) return {};
    return fields.error(name,
                        fmt::format("is {}, which is not supported: take another model", value),
                        ErrorKind::unsupported);
}

Result<void> must_be_absent(const JsonFields& fields, std::string_view name) {
    if (!fields.has(name)) return {};
    return fields.error(name, "is set, which is not supported: take a model without it",
                        ErrorKind::unsupported);
}

Result<void> check_activation(const JsonFields& fields, std::string_view name, Mlp mlp) {
    KVIK_TRY(const std::optional<std::string> said, fields.text(name));
    const bool is_silu = mlp == Mlp::silu_gated;
    if (!said || (is_silu && (*said == "silu" || *said == "swish")) ||
        (!is_silu && (*said == "gelu_new" || *said == "gelu_pytorch_tanh")))
        return {};
    return fields.error(
        name,
        fmt::format("is '{}', kvik computes {} here: take another model", said->substr(0, 40),
                    is_silu ? "silu" : "gelu_new or gelu_pytorch_tanh"),
        ErrorKind::unsupported);
}

Result<void> refuse_unsupported(const JsonFields& fields) {
    for (const char* name : {"quantization_config", "attn_logit_softcapping",
                             "final_logit_softcapping", "num_local_experts", "num_experts"})
        KVIK_TRY_VOID(must_be_absent(fields, name));
    KVIK_TRY_VOID(must_be(fields, "use_bidirectional_attention", false));
    KVIK_TRY_VOID(must_be(fields, "scale_attn_weights", true));
    KVIK_TRY_VOID(must_be(fields, "scale_attn_by_inverse_layer_idx", false));
    return must_be(fields, "add_cross_attention", false);
}

// The list of kinds wins over a period and over the number of layers without a window.
Result<void> read_windows(const JsonFields& fields, uint32_t period, ModelConfig& config) {
    KVIK_TRY(uint32_t window, fields.integer_or("sliding_window", 0));
    KVIK_TRY(const bool is_used, fields.flag_or("use_sliding_window", true));
    if (!is_used) window = 0;
    KVIK_TRY(const std::optional<const nlohmann::json*> kinds, fields.array("layer_types"));
    if (kinds && (*kinds)->size() != config.n_layers)
        return fields.error("layer_types", fmt::format("has {} entries for {} layers: fetch the "
                                                       "model again",
                                                       (*kinds)->size(), config.n_layers));
    config.windows.clear();
    if (window == 0 && !kinds) return {};
    KVIK_TRY(const uint32_t first, fields.integer_or("max_window_layers", 0));
    KVIK_TRY(period, fields.integer_or("sliding_window_pattern", period));
    const bool is_counted = fields.has("use_sliding_window");
    std::vector<uint32_t> windows(config.n_layers, 0);
    bool any = false;
    for (uint32_t i = 0; i < config.n_layers; ++i) {
        bool is_local = period == 0 || (i + 1) % period != 0;
        if (is_counted) is_local = i >= first;
        if (kinds) {
            const nlohmann::json& kind = (**kinds)[i];
            if (kind != "sliding_attention" && kind != "full_attention")
                return fields.error("layer_types",
                                    fmt::format("has {} for layer {}, kvik knows full_attention "
                                                "and sliding_attention: take another model",
                                                kind.dump().substr(0, 40), i),
                                    ErrorKind::unsupported);
            is_local = kind == "sliding_attention";
        }
        if (!is_local) continue;
        if (window == 0)
            return fields.error("sliding_window",
                                "is missing, layer_types has sliding_attention: fetch the model "
                                "again");
        windows[i] = window;
        any = true;
    }
    if (any) config.windows = std::move(windows);
    return {};
}

Result<void> read_sizes(const JsonFields& fields, const SizeNames& names, ModelConfig& config) {
    KVIK_TRY(config.n_layers, fields.require_integer(names.n_layers));
    KVIK_TRY(config.hidden_size, fields.require_integer(names.hidden));
    KVIK_TRY(config.n_heads, fields.require_integer(names.n_heads));
    KVIK_TRY(config.n_kv_heads, fields.integer_or("num_key_value_heads", config.n_heads));
    const uint32_t even_share = config.n_heads == 0 ? 0 : config.hidden_size / config.n_heads;
    if (!fields.has("head_dim") && config.n_heads != 0 && config.hidden_size % config.n_heads != 0)
        return fields.error(names.n_heads,
                            fmt::format("is {}, it must divide {}, which is {}: "
                                        "fetch the model again",
                                        config.n_heads, names.hidden, config.hidden_size));
    KVIK_TRY(config.head_dim, fields.integer_or("head_dim", even_share));
    if (config.positions == Positions::learned) {
        KVIK_TRY(config.ff_size, fields.integer_or(names.ff, 4 * config.hidden_size));
    } else {
        KVIK_TRY(config.ff_size, fields.require_integer(names.ff));
    }
    KVIK_TRY(config.vocab_size, fields.require_integer("vocab_size"));
    KVIK_TRY(config.context_length, fields.require_integer(names.context));
    KVIK_TRY(const double eps, fields.real_or(names.eps, config.norm == Norm::rms ? 1e-6 : 1e-5));
    config.norm_eps = static_cast<float>(eps);
    return {};
}

}  // namespace

Result<ModelConfig> config_from_hf_text(std::string_view text, const std::string& file) {
    KVIK_TRY(const nlohmann::json root, parse_json(text, file));
    if (!root.is_object())
        return fail(ErrorKind::file,
                    fmt::format("{}: is no JSON object: fetch the model again", file));
    const JsonFields fields(root, file);
    KVIK_TRY(const std::optional<std::string> type, fields.text("model_type"));
    if (!type) return fields.error("model_type", "is missing: fetch the model again");
    KVIK_TRY(const ArchitectureTraits traits,
             traits_named(ModelFormat::hugging_face, *type,
                          fmt::format("{}: {}", file, fields.name_of("model_type"))));
    KVIK_TRY_VOID(refuse_unsupported(fields));
    const SizeNames sizes = names_of_sizes(traits, fields);
    const ConfigNames names = names_of(fields, sizes);
    KVIK_TRY_VOID(check_activation(fields, sizes.activation, traits.mlp));

    ModelConfig config;
    config.norm = traits.norm;
    config.positions = traits.positions;
    config.rope.n_dims = 2;
    config.attention_scale = 1;
    KVIK_TRY_VOID(read_sizes(fields, sizes, config));
    KVIK_TRY_VOID(validate(config, names));  // before windows and tables are sized by it
    apply_traits(traits, 0, config);
    KVIK_TRY(const double scalar, fields.real_or("query_pre_attn_scalar", config.head_dim));
    config.attention_scale = 1.0f / std::sqrt(static_cast<float>(scalar));
    KVIK_TRY_VOID(read_windows(fields, traits.global_every, config));
    if (traits.positions == Positions::rope) {
        KVIK_TRY(const HfRope rope, rope_from_hf(fields, config.head_dim, traits.local_rope_base));
        config.rope = rope.all;
        config.local_rope = rope.local;
    }
    KVIK_TRY(config.tied_head, fields.flag_or("tie_word_embeddings", traits.tying == Tying::tied));
    KVIK_TRY_VOID(validate(config, names));
    return config;
}

Result<ModelConfig> config_from_hf(const std::string& directory) {
    const std::string path = directory + "/config.json";
    KVIK_TRY(const std::string text, read_whole_file(path, kMaxJsonBytes));
    return config_from_hf_text(text, path);
}

}  // namespace kvik
