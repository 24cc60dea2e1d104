#include "model/gguf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

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

Result<GgufArchitecture> find_architecture(const GgufMetadata& metadata,
                                           std::span<const GgufArchitecture> known) {
    constexpr std::string_view key = "general.architecture";
    KVIK_TRY(const std::string_view name, metadata.require_string(key));
    std::string list;
    for (const GgufArchitecture& architecture : known) {
        if (architecture.name == name) return architecture;
        list += fmt::format("{}{}", list.empty() ? "" : ", ", architecture.name);
    }
    return tl::unexpected<Error>(metadata.error_about(
        key,
        fmt::format("is {}, kvik runs {}: take a model of one of these", in_quotes(name), list),
        ErrorKind::unsupported));
}

// What would change the numbers and is not computed must not pass in silence.
Result<void> refuse_unsupported(const GgufFile& file, const ArchitectureKeys& keys) {
    KVIK_TRY(const uint32_t n_experts, keys.integer_or("expert_count", 0));
    if (n_experts > 0)
        return keys.unsupported("expert_count",
                                fmt::format("is {}, mixtures of experts are not supported: take a "
                                            "dense model",
                                            n_experts));
    KVIK_TRY(const uint32_t window, keys.integer_or("attention.sliding_window", 0));
    if (window > 0)
        return keys.unsupported(
            "attention.sliding_window",
            fmt::format("is {}, windows are not supported: take a model with full attention",
                        window));
    if (file.find("rope_freqs.weight"))
        return fail(ErrorKind::unsupported,
                    fmt::format("{}: tensor 'rope_freqs.weight' scales RoPE by frequency, which is "
                                "not supported: take a model without it",
                                file.metadata().file()));
    return {};
}

// Before scaling types had names there was scale_linear alone.
std::string_view linear_factor_suffix(const ArchitectureKeys& keys) {
    const bool is_old = keys.has("rope.scale_linear") && !keys.has("rope.scaling.factor");
    return is_old ? "rope.scale_linear" : "rope.scaling.factor";
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

ConfigNames names_of(const ArchitectureKeys& keys) {
    ConfigNames names;
    names.file = keys.metadata().file();
    const auto name = [&](ConfigField field, std::string_view suffix) {
        names[field] = fmt::format("key '{}'", keys.key(suffix));
    };
    name(ConfigField::n_layers, "block_count");
    name(ConfigField::hidden_size, "embedding_length");
    name(ConfigField::n_heads, "attention.head_count");
    name(ConfigField::n_kv_heads, "attention.head_count_kv");
    name(ConfigField::head_dim, "attention.key_length");
    name(ConfigField::ff_size, "feed_forward_length");
    name(ConfigField::vocab_size, "vocab_size");
    name(ConfigField::context_length, "context_length");
    name(ConfigField::rms_eps, "attention.layer_norm_rms_epsilon");
    name(ConfigField::rope_base, "rope.freq_base");
    name(ConfigField::rope_linear_factor, linear_factor_suffix(keys));
    name(ConfigField::rope_n_dims, "rope.dimension_count");
    return names;
}

}  // namespace

Result<ModelConfig> config_from_gguf(const GgufFile& file,
                                     std::span<const GgufArchitecture> known) {
    const GgufMetadata& metadata = file.metadata();
    KVIK_TRY(const GgufArchitecture architecture, find_architecture(metadata, known));
    const ArchitectureKeys keys(metadata, architecture.name);
    KVIK_TRY_VOID(refuse_unsupported(file, keys));

    ModelConfig config;
    config.architecture = architecture.name;
    KVIK_TRY(const std::optional<std::string_view> name, metadata.find_string("general.name"));
    config.name = name.value_or("");
    KVIK_TRY(config.n_layers, keys.require("block_count"));
    KVIK_TRY(config.hidden_size, keys.require("embedding_length"));
    KVIK_TRY(config.n_heads, keys.require("attention.head_count"));
    KVIK_TRY(config.n_kv_heads, keys.integer_or("attention.head_count_kv", config.n_heads));
    KVIK_TRY(config.ff_size, keys.require("feed_forward_length"));
    KVIK_TRY(config.context_length, keys.require("context_length"));
    KVIK_TRY(const double rms_eps,
             metadata.require_real(keys.key("attention.layer_norm_rms_epsilon")));
    config.rms_eps = static_cast<float>(rms_eps);
    KVIK_TRY(config.head_dim, read_head_dim(keys, config));
    KVIK_TRY(config.rope, read_rope(keys, config.head_dim));
    config.rope.layout = architecture.rope_layout;
    KVIK_TRY(config.vocab_size, read_vocab_size(file, keys));
    config.tied_head = file.find("output.weight") == nullptr;
    KVIK_TRY_VOID(validate(config, names_of(keys)));
    return config;
}

}  // namespace kvik
