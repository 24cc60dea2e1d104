#include "model/gguf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "formats/byte_cursor.h"
#include "model/arch/registry.h"

namespace kvik {
namespace {

constexpr IntegerRange kAnyU32 = {0, UINT32_MAX};

// The metadata of one architecture: keys are written without its prefix.
class ArchitectureKeys {
  public:
    ArchitectureKeys(const GgufMetadata& metadata, std::string_view architecture)
        : metadata_(metadata), architecture_(architecture) {}

    std::string key(std::string_view suffix) const {
        return fmt::format("{}.{}", architecture_, suffix);
    }
    bool has(std::string_view suffix) const { return metadata_.find(key(suffix)) != nullptr; }
    Result<uint32_t> require(std::string_view suffix) const {
        KVIK_TRY(const uint64_t n, metadata_.require_integer(key(suffix), kAnyU32));
        return static_cast<uint32_t>(n);
    }
    Result<uint32_t> integer_or(std::string_view suffix, uint32_t absent) const {
        KVIK_TRY(const std::optional<uint64_t> n, metadata_.find_integer(key(suffix), kAnyU32));
        return static_cast<uint32_t>(n.value_or(absent));
    }
    // A number, or a boolean as 0 or 1.
    Result<double> number_or_flag(std::string_view suffix, double absent = 0) const {
        const GgufValue* value = metadata_.find(key(suffix));
        if (value == nullptr || value->type != GgufType::boolean) return real_or(suffix, absent);
        KVIK_TRY(const std::optional<bool> flag, metadata_.find_bool(key(suffix)));
        return *flag ? 1.0 : 0.0;
    }
    Result<double> real_or(std::string_view suffix, double absent) const {
        KVIK_TRY(const std::optional<double> x, metadata_.find_real(key(suffix)));
        return x.value_or(absent);
    }
    tl::unexpected<Error> unsupported(std::string_view suffix, std::string_view problem) const {
        return tl::unexpected<Error>(
            metadata_.error_about(key(suffix), problem, ErrorKind::unsupported));
    }
    const GgufMetadata& metadata() const { return metadata_; }

  private:
    const GgufMetadata& metadata_;
    std::string_view architecture_;
};

// Keys that change what a model computes and are not computed here, each with the values at which
// they change nothing. Which they are: the keys of llama.cpp (src/llama-arch.cpp of 2026-11).
struct NeutralKey {
    std::string_view suffix;
    double neutral, also_neutral;
};
constexpr NeutralKey kNeutralKeys[] = {
    {"activation.situ_beta", 0, 0},
    {"attention.clamp_kqv", 0, 0},
    {"attention.indexer.top_k", 0, 0},
    {"attention.kv_lora_rank", 0, 0},
    {"attention.max_alibi_bias", 0, 0},
    {"attention.output_scale", 0, 1},
    {"attention.q_lora_rank", 0, 0},
    {"attention.shared_kv_layers", 0, 0},
    {"attention.temperature_length", 0, 0},
    {"attention.temperature_scale", 0, 0},
    {"attention.value_scale", 0, 1},
    {"attn_logit_softcapping", 0, 0},
    {"embedding_scale", 0, 1},
    {"expert_count", 0, 0},
    {"expert_shared_count", 0, 0},
    {"expert_used_count", 0, 0},
    {"final_logit_softcapping", 0, 0},
    {"full_attention_interval", 0, 1},
    {"logit_scale", 0, 1},
    {"n_deepstack_layers", 0, 0},
    {"nextn_predict_layers", 0, 0},
    {"num_loops", 0, 1},
    {"rescale_every_n_layers", 0, 0},
    {"residual_scale", 0, 1},
    {"swin_norm", 0, 0},
    {"use_parallel_residual", 0, 0},
};
constexpr NeutralKey kNeutralRopeKeys[] = {
    {"rope.scaling.alpha", 0, 1},
    {"rope.scaling.attn_factor", 1, 1},
    {"rope.scaling.yarn_attn_factor", 1, -1},
    {"rope.scaling.yarn_ext_factor", 0, -1},
    {"rope.scaling.yarn_log_multiplier", 0, 0},
};

// What would change the numbers and is not computed must not pass in silence.
Result<void> refuse_unless_neutral(const ArchitectureKeys& keys, std::span<const NeutralKey> all) {
    for (const NeutralKey& key : all) {
        if (!keys.has(key.suffix)) continue;
        KVIK_TRY(const double value, keys.number_or_flag(key.suffix));
        if (value == key.neutral || value == key.also_neutral) continue;
        return keys.unsupported(key.suffix,
                                fmt::format("is {}, which kvik does not compute: take a model "
                                            "without it, or with {}",
                                            value, key.neutral));
    }
    return {};
}

Result<void> refuse_unsupported(const ArchitectureKeys& keys, Positions positions) {
    KVIK_TRY_VOID(refuse_unless_neutral(keys, kNeutralKeys));
    KVIK_TRY(const double is_causal, keys.number_or_flag("attention.causal", 1));
    if (is_causal != 1)
        return keys.unsupported("attention.causal",
                                "is false, kvik computes causal attention: take another model");
    if (positions != Positions::rope) return {};
    if (keys.has("rope.dimension_sections"))
        return keys.unsupported("rope.dimension_sections",
                                "is set, which kvik does not compute: take another model");
    return refuse_unless_neutral(keys, kNeutralRopeKeys);
}

// Keys that must say what another says, where they are there.
Result<void> must_equal(const ArchitectureKeys& keys, std::string_view suffix, double value) {
    KVIK_TRY(const double said, keys.real_or(suffix, value));
    if (said == value) return {};
    return keys.unsupported(
        suffix, fmt::format("is {}, kvik computes with {}: take another model", said, value));
}

// llama.cpp passes attention.scale over for these architectures, a file that has it means it: it can
// only be what both compute.
Result<void> check_attention_scale(const ArchitectureKeys& keys, double computed) {
    KVIK_TRY(const double said, keys.real_or("attention.scale", 0));
    if (said == 0 || std::abs(said - computed) <= 1e-6 * computed) return {};
    return keys.unsupported("attention.scale", fmt::format("is {}, kvik computes with {}: take "
                                                           "another model",
                                                           said, computed));
}

// Before scaling types had names there was scale_linear alone.
std::string_view linear_factor_suffix(const ArchitectureKeys& keys) {
    const bool is_old = keys.has("rope.scale_linear") && !keys.has("rope.scaling.factor");
    return is_old ? "rope.scale_linear" : "rope.scaling.factor";
}

// Llama 3 files say what divides each pair's frequency in a tensor.
Result<std::vector<double>> read_divisors(const GgufFile& file, uint32_t n_dims) {
    constexpr std::string_view name = "rope_freqs.weight";
    const TensorEntry* entry = file.find(name);
    if (!entry) return std::vector<double>();
    const auto refuse = [&](std::string_view problem) {
        return fail(ErrorKind::file,
                    fmt::format("{}: tensor '{}' at byte {} {}: convert the model again",
                                file.file_of(*entry), name, entry->offset, problem));
    };
    if (entry->dtype != DType::f32 || entry->shape != Shape{{n_dims / 2, 1, 1, 1}, 1})
        return refuse(fmt::format("is not {} numbers of type F32", n_dims / 2));
    std::vector<float> values(n_dims / 2);
    KVIK_TRY_VOID(file.read(*entry, 0, std::as_writable_bytes(std::span(values))));
    for (const float value : values)
        if (!(value >= 1e-3f && value <= 1e6f))
            return refuse(fmt::format("holds {}, the range is 0.001 .. 1000000", value));
    return std::vector<double>(values.begin(), values.end());
}

Result<RopeConfig> read_rope(const ArchitectureKeys& keys, uint32_t head_dim) {
    RopeConfig rope;
    KVIK_TRY(rope.base, keys.real_or("rope.freq_base", rope.base));
    KVIK_TRY(rope.n_dims, keys.integer_or("rope.dimension_count", head_dim));
    // A file without a type means linear by its factor, if it has one.
    KVIK_TRY(const std::optional<std::string_view> said,
             keys.metadata().find_string(keys.key("rope.scaling.type")));
    const std::string_view type = said.value_or("linear");
    if (type == "none") return rope;
    if (type != "linear")
        return keys.unsupported("rope.scaling.type",
                                fmt::format("is {}, kvik knows none and linear: take a model with "
                                            "one of these",
                                            in_quotes(type)));
    KVIK_TRY(rope.linear_factor, keys.real_or(linear_factor_suffix(keys), 1));
    return rope;
}

// Width of a head: said, or what makes the heads together as wide as the hidden state.
Result<uint32_t> read_head_dim(const ArchitectureKeys& keys, const ModelConfig& config) {
    const uint32_t even_share = config.n_heads == 0 ? 0 : config.hidden_size / config.n_heads;
    KVIK_TRY(const uint32_t key_length, keys.integer_or("attention.key_length", even_share));
    KVIK_TRY(const uint32_t value_length, keys.integer_or("attention.value_length", key_length));
    if (value_length != key_length)
        return keys.unsupported("attention.value_length",
                                fmt::format("is {} and the key length {}, kvik has one length for "
                                            "both: take another model",
                                            value_length, key_length));
    KVIK_TRY_VOID(must_equal(keys, "attention.key_length_swa", key_length));
    KVIK_TRY_VOID(must_equal(keys, "attention.value_length_swa", value_length));
    if (!keys.has("attention.key_length") && config.n_heads != 0 &&
        config.hidden_size % config.n_heads != 0)
        return tl::unexpected<Error>(keys.metadata().error_about(
            keys.key("attention.head_count"),
            fmt::format("is {}, it must divide {}, which is {}: convert the model again",
                        config.n_heads, keys.key("embedding_length"), config.hidden_size)));
    return key_length;
}

// Rows of the embedding; what the metadata says of the vocabulary must agree with it.
Result<uint32_t> read_vocab_size(const GgufFile& file, const ArchitectureKeys& keys) {
    constexpr std::string_view embedding_name = "token_embd.weight";
    const GgufMetadata& metadata = file.metadata();
    const TensorEntry* embedding = file.find(embedding_name);
    if (!embedding)
        return fail(ErrorKind::file,
                    fmt::format("{}: tensor '{}' is missing, the model needs it: fetch or convert "
                                "the model again",
                                metadata.file(), embedding_name));
    const uint64_t n_rows = embedding->shape.n_rows();
    const auto must_agree = [&](std::string_view key, uint64_t n) -> Result<void> {
        if (n == n_rows) return {};
        return tl::unexpected<Error>(metadata.error_about(
            key, fmt::format("has {} tokens, '{}' has {} rows: convert the model again", n,
                             embedding_name, n_rows)));
    };
    if (keys.has("vocab_size")) {
        KVIK_TRY(const uint32_t said, keys.require("vocab_size"));
        KVIK_TRY_VOID(must_agree(keys.key("vocab_size"), said));
    }
    constexpr std::string_view tokens_key = "tokenizer.ggml.tokens";
    KVIK_TRY(const std::optional<GgufStrings> tokens, metadata.find_strings(tokens_key));
    if (tokens) KVIK_TRY_VOID(must_agree(tokens_key, tokens->size()));
    // Out of u32 is out of the table's range as well.
    return static_cast<uint32_t>(std::min<uint64_t>(n_rows, UINT32_MAX));
}

std::string_view eps_suffix(Norm norm) {
    return norm == Norm::rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon";
}

ConfigNames names_of(const ArchitectureKeys& keys, Norm norm) {
    ConfigNames names;
    names.file = keys.metadata().file();
    const auto name = [&](ConfigField field, std::string_view suffix) {
        const GgufValue* value = keys.metadata().find(keys.key(suffix));
        names[field] = fmt::format("key '{}'", keys.key(suffix));
        if (value) names[field] += fmt::format(" at byte {}", value->offset);
    };
    name(ConfigField::n_layers, "block_count");
    name(ConfigField::hidden_size, "embedding_length");
    name(ConfigField::n_heads, "attention.head_count");
    name(ConfigField::n_kv_heads, "attention.head_count_kv");
    name(ConfigField::head_dim, "attention.key_length");
    name(ConfigField::intermediate_size, "feed_forward_length");
    name(ConfigField::vocab_size, "vocab_size");
    name(ConfigField::context_length, "context_length");
    name(ConfigField::norm_eps, eps_suffix(norm));
    name(ConfigField::rope_base, "rope.freq_base");
    name(ConfigField::rope_linear_factor, linear_factor_suffix(keys));
    name(ConfigField::rope_n_dims, "rope.dimension_count");
    name(ConfigField::window, "attention.sliding_window");
    name(ConfigField::attention_scale, "attention.key_length");
    return names;
}

// Layers with a window turn as they would without scaling, at a base of their own.
RopeConfig local_rope_of(const ModelConfig& config, double base) {
    RopeConfig local = config.rope;
    local.base = base;
    local.linear_factor = 1;
    local.divisors.clear();
    return local;
}

// A file may say which layers have the window: by a period, of which the last layer has none, or by a
// list. It then knows better than the architecture.
Result<void> read_pattern(const ArchitectureKeys& keys, uint32_t window, ModelConfig& config) {
    constexpr std::string_view suffix = "attention.sliding_window_pattern";
    const GgufValue* said = keys.metadata().find(keys.key(suffix));
    if (!said || window == 0) return {};
    if (!said->is_array) {
        KVIK_TRY(const uint32_t period, keys.integer_or(suffix, 0));
        for (uint32_t i = 0; i < config.n_layers; ++i)
            config.windows[i] = period > 0 && (i + 1) % period == 0 ? 0 : window;
        return {};
    }
    if (said->type != GgufType::boolean || said->n_elements != config.n_layers)
        return tl::unexpected<Error>(keys.metadata().error_about(
            keys.key(suffix), fmt::format("is {} of {} elements, a number or {} times yes or no is "
                                          "needed: convert the model again",
                                          type_name(*said), said->n_elements, config.n_layers)));
    for (uint32_t i = 0; i < config.n_layers; ++i)
        config.windows[i] = said->bytes[i] != std::byte{0} ? window : 0;
    return {};
}

// The largest Gemma 3 scales its scores by the even share of the hidden state, not by the head's
// width; GGUF does not say so (Gemma Team 2025, arXiv 2503.19786: query_pre_attn_scalar).
constexpr uint32_t kLayersOfLargestGemma3 = 62;

Result<void> read_attention(const GgufFile& file, const ArchitectureKeys& keys,
                            const ArchitectureTraits& traits, ModelConfig& config) {
    if (traits.math.positions == Positions::rope) {
        KVIK_TRY(config.rope, read_rope(keys, config.head_dim));
        config.rope.layout = traits.gguf_rope;
        KVIK_TRY(config.rope.divisors, read_divisors(file, config.rope.n_dims));
        KVIK_TRY_VOID(must_equal(keys, "rope.dimension_count_swa", config.rope.n_dims));
    }
    // llama.cpp reads a window for gemma3 alone of these architectures.
    uint32_t window = 0;
    if (traits.global_every > 0) {
        KVIK_TRY(window, keys.integer_or("attention.sliding_window", 0));
    }
    apply_traits(traits, window, config);
    KVIK_TRY_VOID(read_pattern(keys, window, config));
    if (traits.local_rope_base > 0) {
        KVIK_TRY(const double base, keys.real_or("rope.freq_base_swa", traits.local_rope_base));
        config.local_rope = local_rope_of(config, base);
    }
    if (traits.name == "gemma3" && config.n_layers == kLayersOfLargestGemma3 && config.n_heads > 0)
        config.attention_scale = 1.0f / std::sqrt(static_cast<float>(config.hidden_size) /
                                                  static_cast<float>(config.n_heads));
    return check_attention_scale(keys, config.attention_scale);
}

}  // namespace

Result<ModelConfig> config_from_gguf(const GgufFile& file) {
    const GgufMetadata& metadata = file.metadata();
    constexpr std::string_view key = "general.architecture";
    KVIK_TRY(const std::string_view said, metadata.require_string(key));
    KVIK_TRY(
        const ArchitectureTraits traits,
        traits_named(ModelFormat::gguf, said, fmt::format("{}: key '{}'", metadata.file(), key)));
    const ArchitectureKeys keys(metadata, traits.gguf);
    KVIK_TRY_VOID(refuse_unsupported(keys, traits.math.positions));

    ModelConfig config;
    config.name = metadata.find_label("general.name").value_or("");
    KVIK_TRY(config.n_layers, keys.require("block_count"));
    KVIK_TRY(config.hidden_size, keys.require("embedding_length"));
    KVIK_TRY(config.n_heads, keys.require("attention.head_count"));
    KVIK_TRY(config.n_kv_heads, keys.integer_or("attention.head_count_kv", config.n_heads));
    KVIK_TRY(config.intermediate_size, keys.require("feed_forward_length"));
    KVIK_TRY(config.context_length, keys.require("context_length"));
    KVIK_TRY(const double eps, metadata.require_real(keys.key(eps_suffix(traits.math.norm))));
    config.norm_eps = static_cast<float>(eps);
    KVIK_TRY(config.head_dim, read_head_dim(keys, config));
    KVIK_TRY(config.vocab_size, read_vocab_size(file, keys));
    config.tied_lm_head = file.find("output.weight") == nullptr;
    // Before windows and tables are sized by them.
    config.rope.n_dims = 2;
    config.attention_scale = 1;
    static_cast<ArchitectureMath&>(config) = traits.math;
    const ConfigNames names = names_of(keys, traits.math.norm);
    KVIK_TRY_VOID(validate(config, names));
    KVIK_TRY_VOID(read_attention(file, keys, traits, config));
    KVIK_TRY_VOID(validate(config, names));
    return config;
}

}  // namespace kvik
