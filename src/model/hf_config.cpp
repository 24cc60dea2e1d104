#include "model/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/mapped_file.h"
#include "formats/json.h"
#include "model/arch/registry.h"
#include "model/hf_classes.h"
#include "model/hf_rope.h"
#include "model/json_fields.h"

namespace kvik {
namespace {

// What a class calls the sizes.
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

SizeNames names_of_sizes(const HfClass& row) {
    SizeNames names = row.has("n_embd") ? kGpt2 : kUsual;
    if (row.has("hidden_activation")) names.activation = "hidden_activation";
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
    name(ConfigField::intermediate_size, sizes.ff);
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

// What changes the numbers of any class, by code that all classes share.
Result<void> refuse_everywhere(const JsonFields& file) {
    for (const char* name : {"quantization_config", "per_layer_config"})
        KVIK_TRY_VOID(must_be_absent(file, name));
    return must_be(file, "is_causal", true);
}

// What changes the numbers of the classes that have it.
Result<void> refuse_unsupported(const JsonFields& fields) {
    for (const char* name : {"attn_logit_softcapping", "final_logit_softcapping"})
        KVIK_TRY_VOID(must_be_absent(fields, name));
    KVIK_TRY_VOID(must_be(fields, "use_bidirectional_attention", false));
    KVIK_TRY_VOID(must_be(fields, "scale_attn_weights", true));
    KVIK_TRY_VOID(must_be(fields, "scale_attn_by_inverse_layer_idx", false));
    return must_be(fields, "add_cross_attention", false);
}

// Which layers have the window: those that layer_types names, else those after the first so many,
// else all but every so manyth, else all.
Result<std::vector<bool>> read_kinds(const HfClass& row, const JsonFields& fields,
                                     uint32_t n_layers, bool is_window_used) {
    std::vector<bool> is_local(n_layers, is_window_used);
    if (!row.has("layer_types")) return is_local;
    KVIK_TRY(const std::optional<const nlohmann::json*> kinds, fields.array("layer_types"));
    if (kinds && (*kinds)->size() != n_layers)
        return fields.error("layer_types", fmt::format("has {} entries for {} layers: fetch the "
                                                       "model again",
                                                       (*kinds)->size(), n_layers));
    KVIK_TRY(const uint32_t first, fields.integer_or("max_window_layers", 0));
    KVIK_TRY(const uint32_t period, fields.integer_or("sliding_window_pattern", 0));
    if (row.has("sliding_window_pattern") && period == 0)
        return fields.error("sliding_window_pattern", "is 0, a period is at least 1: correct it");
    for (uint32_t i = 0; i < n_layers; ++i) {
        if (!kinds) {
            // With a period layers are local even where the window is null, which is an error then.
            is_local[i] = period > 0 ? (i + 1) % period != 0 : is_window_used && i >= first;
            continue;
        }
        const nlohmann::json& kind = (**kinds)[i];
        if (kind != "sliding_attention" && kind != "full_attention")
            return fields.error("layer_types",
                                fmt::format("has {} for layer {}, kvik knows full_attention "
                                            "and sliding_attention: take another model",
                                            kind.dump().substr(0, 40), i),
                                ErrorKind::unsupported);
        is_local[i] = kind == "sliding_attention";
    }
    return is_local;
}

Result<void> read_windows(const HfClass& row, const JsonFields& fields, ModelConfig& config) {
    KVIK_TRY(const std::optional<uint32_t> said, fields.integer("sliding_window"));
    KVIK_TRY(const bool is_used, fields.flag_or("use_sliding_window", true));
    const std::optional<uint32_t> window = is_used ? said : std::nullopt;
    if (window == 0u)
        return fields.error("sliding_window", "is 0, a window is at least 1: correct it");
    KVIK_TRY(const std::vector<bool> is_local,
             read_kinds(row, fields, config.n_layers, window.has_value()));
    config.windows.clear();
    if (std::ranges::find(is_local, true) == is_local.end()) return {};
    if (!window)
        return fields.error(is_used ? "sliding_window" : "use_sliding_window",
                            fmt::format("is {}, layers with sliding_attention need a window: "
                                        "correct config.json",
                                        is_used ? "null" : "false"));
    config.windows.assign(config.n_layers, 0);
    for (uint32_t i = 0; i < config.n_layers; ++i)
        if (is_local[i]) config.windows[i] = *window;
    return {};
}

Result<void> read_sizes(const JsonFields& fields, const SizeNames& names, ModelConfig& config) {
    KVIK_TRY(config.n_layers, fields.require_integer(names.n_layers));
    KVIK_TRY(config.hidden_size, fields.require_integer(names.hidden));
    KVIK_TRY(config.n_heads, fields.require_integer(names.n_heads));
    KVIK_TRY(config.n_kv_heads, fields.integer_or("num_key_value_heads", config.n_heads));
    // Where head_dim has no default it is the even share.
    const uint32_t even_share = config.n_heads == 0 ? 0 : config.hidden_size / config.n_heads;
    if (!fields.has("head_dim") && config.n_heads != 0 && config.hidden_size % config.n_heads != 0)
        return fields.error(names.n_heads,
                            fmt::format("is {}, it must divide {}, which is {}: "
                                        "fetch the model again",
                                        config.n_heads, names.hidden, config.hidden_size));
    KVIK_TRY(config.head_dim, fields.integer_or("head_dim", even_share));
    // Only n_inner may be null.
    KVIK_TRY(config.intermediate_size, fields.integer_or(names.ff, 4 * config.hidden_size));
    KVIK_TRY(config.vocab_size, fields.require_integer("vocab_size"));
    KVIK_TRY(config.context_length, fields.require_integer(names.context));
    KVIK_TRY(const double eps, fields.real_or(names.eps, config.norm == Norm::rms ? 1e-6 : 1e-5));
    config.norm_eps = static_cast<float>(eps);
    return {};
}

// Tensors that are there or not by what the class and its fields say.
Result<void> read_tensors(const HfClass& row, const JsonFields& fields, ModelConfig& config) {
    KVIK_TRY(const bool has_biases, fields.flag_or("attention_bias", false));
    const auto need = [&](HfBias bias) {
        const bool is_there =
            bias == HfBias::always || (bias == HfBias::by_attention_bias && has_biases);
        return is_there ? TensorNeed::optional : TensorNeed::absent;  // a bias left out is 0
    };
    config.qkv_bias = need(row.qkv_bias);
    config.output_bias = need(row.output_bias);
    config.qk_norm = row.has_qk_norm ? TensorNeed::required : TensorNeed::absent;
    KVIK_TRY(config.tied_lm_head, fields.flag_or("tie_word_embeddings", false));
    return {};
}

// The fields that the class has, as ModelConfig.
Result<ModelConfig> config_of(const HfClass& row, const ArchitectureTraits& traits,
                              const nlohmann::json& root, const nlohmann::json& resolved,
                              const std::string& file) {
    const JsonFields fields(resolved, file);
    KVIK_TRY_VOID(refuse_unsupported(fields));
    const SizeNames sizes = names_of_sizes(row);
    const ConfigNames names = names_of(fields, sizes);
    KVIK_TRY_VOID(check_activation(fields, sizes.activation, traits.math.mlp));

    ModelConfig config;
    static_cast<ArchitectureMath&>(config) = traits.math;
    config.rope.n_dims = 2;
    config.attention_scale = 1;
    KVIK_TRY_VOID(read_sizes(fields, sizes, config));
    KVIK_TRY_VOID(validate(config, names));  // before windows and tables are sized by it
    apply_traits(traits, 0, config);
    KVIK_TRY(const double scalar, fields.real_or("query_pre_attn_scalar", config.head_dim));
    config.attention_scale = 1.0f / std::sqrt(static_cast<float>(scalar));
    KVIK_TRY_VOID(read_windows(row, fields, config));
    if (traits.math.positions == Positions::rope) {
        const bool has_kinds = row.has("layer_types");
        const auto is_window = [](uint32_t window) { return window > 0; };
        const bool has_sliding = std::ranges::any_of(config.windows, is_window);
        const bool has_full = !std::ranges::all_of(config.windows, is_window) || !has_sliding;
        KVIK_TRY(const HfRope rope,
                 rope_from_hf({row, root, file, config.head_dim, config.context_length,
                               has_kinds && has_full, has_kinds && has_sliding}));
        config.rope = rope.all;
        config.local_rope = rope.local;
    }
    KVIK_TRY_VOID(read_tensors(row, fields, config));
    KVIK_TRY_VOID(validate(config, names));
    return config;
}

}  // namespace

Result<ModelConfig> config_from_hf_text(std::string_view text, const std::string& file) {
    KVIK_TRY(const nlohmann::json root, parse_json(text, file));
    if (!root.is_object())
        return fail(ErrorKind::file,
                    fmt::format("{}: is no JSON object: fetch the model again", file));
    const JsonFields all(root, file);
    KVIK_TRY(const std::optional<std::string> type, all.text("model_type"));
    if (!type) return all.error("model_type", "is missing: fetch the model again");
    KVIK_TRY(const ArchitectureTraits traits,
             traits_named(ModelFormat::hugging_face, *type,
                          fmt::format("{}: {}", file, all.name_of("model_type"))));
    const HfClass* row = find_hf_class(*type, root);
    KVIK_CHECK(row, "an architecture of Hugging Face has a row in hf_class_table.inl");
    KVIK_TRY_VOID(refuse_everywhere(all));
    KVIK_TRY(const nlohmann::json resolved, resolve_fields(*row, root, file));
    return config_of(*row, traits, root, resolved, file);
}

Result<ModelConfig> config_from_hf(const std::string& directory) {
    const std::string path = directory + "/config.json";
    KVIK_TRY(const std::string text, read_whole_file(path, kMaxJsonBytes));
    return config_from_hf_text(text, path);
}

}  // namespace kvik
