#include "model/gguf_config.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "testing/expect_error.h"
#include "testing/gguf_samples.h"
#include "testing/patch_bytes.h"

namespace kvik {
namespace {

Result<ModelConfig> config_of(const std::vector<std::byte>& bytes) {
    const Result<GgufFile> file = GgufFile::from_bytes(bytes, "m.gguf");
    EXPECT_TRUE(file) << file.error().message;
    if (!file) return tl::unexpected<Error>(file.error());
    return config_from_gguf(*file);
}

// The sample with another u32 at a key.
Result<ModelConfig> config_with(std::string_view key, uint32_t value) {
    const auto bytes = sample_llama().bytes();
    return config_of(with_bytes_at(bytes, find_bytes(bytes, key) + key.size() + 4, value));
}

// The sample without a key: it is there under another name.
Result<ModelConfig> config_without(std::string_view key) {
    const auto bytes = sample_llama().bytes();
    return config_of(with_bytes_at(bytes, find_bytes(bytes, key) + key.size() - 1, '#'));
}

TEST(GgufConfig, reads_what_a_llama_file_says) {
    const Result<ModelConfig> config = config_of(sample_llama().bytes());
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->architecture, "llama");
    EXPECT_EQ(config->name, "tiny");
    EXPECT_EQ(config->n_layers, 2u);
    EXPECT_EQ(config->hidden_size, 8u);
    EXPECT_EQ(config->n_heads, 2u);
    EXPECT_EQ(config->n_kv_heads, 1u);
    EXPECT_EQ(config->head_dim, 4u);
    EXPECT_EQ(config->intermediate_size, 16u);
    EXPECT_EQ(config->vocab_size, 4u);
    EXPECT_EQ(config->context_length, 64u);
    EXPECT_EQ(config->norm_eps, 1e-5f);
    EXPECT_EQ(config->rope.base, 100000.0);
    EXPECT_EQ(config->rope.linear_factor, 1.0);
    EXPECT_EQ(config->rope.n_dims, 4u);
    EXPECT_EQ(config->rope.layout, RopeLayout::adjacent);
    EXPECT_TRUE(config->windows.empty());
    EXPECT_TRUE(config->tied_lm_head);
}

TEST(GgufConfig, a_head_of_its_own_is_not_tied) {
    const auto bytes = sample_llama().random_tensor("output.weight", DType::f32, {4, 8}, 2).bytes();
    EXPECT_FALSE(config_of(bytes)->tied_lm_head);
}

TEST(GgufConfig, absent_optional_keys_get_the_formats_defaults) {
    EXPECT_EQ(config_without("llama.attention.head_count_kv")->n_kv_heads, 2u);
    EXPECT_EQ(config_without("llama.rope.freq_base")->rope.base, 10000.0);
    EXPECT_EQ(config_without("llama.rope.dimension_count")->rope.n_dims, 4u);
    EXPECT_EQ(config_without("llama.vocab_size")->vocab_size, 4u);
    EXPECT_EQ(config_without("general.name")->name, "");
}

TEST(GgufConfig, an_absent_required_key_is_named) {
    for (const char* key : {"general.architecture", "llama.block_count", "llama.embedding_length",
                            "llama.attention.layer_norm_rms_epsilon", "llama.feed_forward_length",
                            "llama.context_length"})
        expect_refused(config_without(key), ErrorKind::file,
                       {"m.gguf: key '" + std::string(key) + "'", "missing"});
}

TEST(GgufConfig, an_architecture_that_is_not_known_is_named_with_those_that_are) {
    const auto bytes = GgufWriter().set("general.architecture", "mamba").bytes();
    expect_refused(config_of(bytes), ErrorKind::unsupported,
                   {"'general.architecture'", "is 'mamba'", "llama, qwen2"});
}

TEST(GgufConfig, the_layout_of_rope_is_the_architectures) {
    GgufWriter w;
    w.set("general.architecture", "qwen3");
    for (const char* key : {"block_count", "context_length", "embedding_length",
                            "feed_forward_length", "attention.head_count"})
        w.set("qwen3." + std::string(key), uint32_t{4});
    w.set("qwen3.attention.layer_norm_rms_epsilon", 1e-6f);
    w.set("qwen3.attention.key_length", uint32_t{2}).set("qwen3.attention.value_length", 2u);
    w.random_tensor("token_embd.weight", DType::f32, {3, 4}, 1);
    const Result<ModelConfig> config = config_of(w.bytes());
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->rope.layout, RopeLayout::halves);
    EXPECT_EQ(config->head_dim, 2u);
    EXPECT_EQ(config->vocab_size, 3u);
}

TEST(GgufConfig, a_number_out_of_range_is_refused_by_its_key) {
    for (const char* key : {"llama.block_count", "llama.embedding_length",
                            "llama.feed_forward_length", "llama.context_length"})
        for (const uint32_t lie : {0u, UINT32_MAX - 1})
            expect_refused(config_with(key, lie), ErrorKind::file,
                           {"m.gguf: key '" + std::string(key) + "' at byte ",
                            " is " + std::to_string(lie) + ",", " .. "});
    expect_refused(config_with("llama.rope.dimension_count", 6), ErrorKind::file,
                   {"'llama.rope.dimension_count' at byte ", " is 6,", "at most"});
    expect_refused(config_with("llama.attention.head_count_kv", 0), ErrorKind::file,
                   {"'llama.attention.head_count_kv' at byte ", " is 0,", "1 .. 1024"});
}

TEST(GgufConfig, no_heads_is_refused_before_anything_is_divided_by_them) {
    // The longer key "head_count_kv" comes later in the file.
    expect_refused(config_with("llama.attention.head_count", 0), ErrorKind::file,
                   {"'llama.attention.head_count' at byte ", " is 0,", "1 .. 1024"});
}

TEST(GgufConfig, heads_divide_the_hidden_size_unless_their_length_is_said) {
    expect_refused(config_with("llama.attention.head_count", 3), ErrorKind::file,
                   {"'llama.attention.head_count'", "is 3", "divide llama.embedding_length"});
}

TEST(GgufConfig, a_vocabulary_of_two_sizes_is_refused) {
    expect_refused(config_with("llama.vocab_size", 5), ErrorKind::file,
                   {"'llama.vocab_size'", "has 5 tokens", "4 rows"});
    const auto bytes = sample_llama().bytes();
    const std::string_view name = "token_embd.weight";
    const size_t rows_at = find_bytes(bytes, name) + name.size() + 4 + 8;
    expect_refused(config_of(with_bytes_at(bytes, rows_at, uint64_t{3})), ErrorKind::file,
                   {"'llama.vocab_size'", "has 4 tokens", "3 rows"});
}

TEST(GgufConfig, a_model_without_an_embedding_is_refused) {
    expect_refused(config_without("token_embd.weight"), ErrorKind::file,
                   {"tensor 'token_embd.weight' is missing"});
}

TEST(GgufConfig, linear_scaling_of_positions_is_read_from_either_key) {
    GgufWriter w = sample_llama();
    w.set("llama.rope.scaling.type", "linear").set("llama.rope.scaling.factor", 4.0f);
    EXPECT_EQ(config_of(w.bytes())->rope.linear_factor, 4.0);
    w = sample_llama();
    w.set("llama.rope.scale_linear", 2.0f);
    EXPECT_EQ(config_of(w.bytes())->rope.linear_factor, 2.0);
    w = sample_llama();
    w.set("llama.rope.scaling.type", "none").set("llama.rope.scaling.factor", 4.0f);
    EXPECT_EQ(config_of(w.bytes())->rope.linear_factor, 1.0);
    w = sample_llama();
    w.set("llama.rope.scale_linear", std::numeric_limits<float>::quiet_NaN());
    expect_refused(config_of(w.bytes()), ErrorKind::file,
                   {"'llama.rope.scale_linear' at byte ", " is nan,"});
}

TEST(GgufConfig, what_is_not_computed_is_not_passed_over_in_silence) {
    const auto refused = [](GgufWriter& w, std::string_view name) {
        expect_refused(config_of(w.bytes()), ErrorKind::unsupported, {"m.gguf: ", name});
    };
    GgufWriter w = sample_llama();
    refused(w.set("llama.rope.scaling.type", "yarn"), "'yarn', kvik knows none and linear");
    w = sample_llama();
    refused(w.set("llama.expert_count", uint32_t{8}), "'llama.expert_count'");
    w = sample_llama();
    refused(w.set("llama.attention.key_length", 4u).set("llama.attention.value_length", 8u),
            "'llama.attention.value_length'");
}

// A gemma3 of two layers, with windows of 16.
GgufWriter sample_gemma3(uint32_t n_layers = 2, uint32_t window = 16) {
    GgufWriter w;
    w.set("general.architecture", "gemma3");
    for (const auto& [key, value] : std::initializer_list<std::pair<const char*, uint32_t>>{
             {"block_count", n_layers},
             {"context_length", 64},
             {"embedding_length", 16},
             {"feed_forward_length", 16},
             {"attention.head_count", 4},
             {"attention.key_length", 16},
             {"attention.value_length", 16},
             {"attention.sliding_window", window}})
        w.set("gemma3." + std::string(key), value);
    w.set("gemma3.attention.layer_norm_rms_epsilon", 1e-6f);
    w.random_tensor("token_embd.weight", DType::f32, {3, 16}, 1);
    return w;
}

TEST(GgufConfig, a_window_counts_where_llama_cpp_reads_it) {
    GgufWriter w = sample_llama();
    w.set("llama.attention.sliding_window", uint32_t{16});
    w.set("llama.attention.sliding_window_pattern", uint32_t{2});
    EXPECT_TRUE(config_of(w.bytes())->windows.empty());
    EXPECT_EQ(config_of(sample_gemma3().bytes())->windows, std::vector<uint32_t>(2, 16));
}

TEST(GgufConfig, a_pattern_in_the_file_says_which_layers_have_the_window) {
    const std::string key = "gemma3.attention.sliding_window_pattern";
    GgufWriter w = sample_gemma3();
    EXPECT_EQ(config_of(w.set(key, uint32_t{2}).bytes())->windows, (std::vector<uint32_t>{16, 0}));
    constexpr bool kList[] = {false, true, true};
    w = sample_gemma3();
    w.set_array(key, std::span(kList).first(2));
    EXPECT_EQ(config_of(w.bytes())->windows, (std::vector<uint32_t>{0, 16}));
    w = sample_gemma3();
    expect_refused(config_of(w.set_array(key, std::span<const bool>(kList)).bytes()),
                   ErrorKind::file, {key, "of 3 elements", "2 times"});
}

// Every key of llama.cpp that changes what a model computes: a value that would change it is refused
// by the key's name, one that changes nothing leaves the configuration as it is.
TEST(GgufConfig, every_key_that_changes_the_computation_is_obeyed_or_refused) {
    struct Key {
        const char* suffix;
        float changing, neutral;
    };
    constexpr Key kKeys[] = {
        {"activation.situ_beta", 1, 0},
        {"attention.clamp_kqv", 8, 0},
        {"attention.indexer.top_k", 4, 0},
        {"attention.kv_lora_rank", 4, 0},
        {"attention.max_alibi_bias", 8, 0},
        {"attention.output_scale", 2, 1},
        {"attention.q_lora_rank", 4, 0},
        {"attention.scale", 2, 0.5f},
        {"attention.shared_kv_layers", 1, 0},
        {"attention.temperature_length", 8192, 0},
        {"attention.temperature_scale", 0.5f, 0},
        {"attention.value_scale", 2, 1},
        {"attn_logit_softcapping", 50, 0},
        {"embedding_scale", 12, 1},
        {"expert_count", 8, 0},
        {"expert_shared_count", 1, 0},
        {"expert_used_count", 2, 0},
        {"final_logit_softcapping", 30, 0},
        {"full_attention_interval", 4, 1},
        {"logit_scale", 0.5f, 1},
        {"n_deepstack_layers", 3, 0},
        {"nextn_predict_layers", 1, 0},
        {"num_loops", 2, 1},
        {"rescale_every_n_layers", 6, 0},
        {"residual_scale", 0.2f, 1},
        {"rope.scaling.alpha", 1000, 0},
        {"rope.scaling.attn_factor", 1.2f, 1},
        {"rope.scaling.yarn_attn_factor", 1.2f, 1},
        {"rope.scaling.yarn_ext_factor", 1, 0},
        {"rope.scaling.yarn_log_multiplier", 0.1f, 0},
        {"attention.key_length_swa", 8, 4},
        {"attention.value_length_swa", 8, 4},
        {"rope.dimension_count_swa", 2, 4},
    };
    const auto with = [](const std::string& key, auto value) {
        GgufWriter w = sample_llama();
        return config_of(w.set(key, value).bytes());
    };
    size_t n = 0;
    for (const Key& key : kKeys) {
        const std::string name = std::string("llama.") + key.suffix;
        expect_refused(with(name, key.changing), ErrorKind::unsupported, {"key '" + name + "'"});
        EXPECT_TRUE(with(name, key.neutral)) << name;
        n += 2;
    }
    for (const char* flag : {"swin_norm", "use_parallel_residual"}) {
        const std::string name = std::string("llama.") + flag;
        expect_refused(with(name, true), ErrorKind::unsupported, {"key '" + name + "'"});
        EXPECT_TRUE(with(name, false)) << name;
        n += 2;
    }
    expect_refused(with("llama.attention.causal", false), ErrorKind::unsupported,
                   {"'llama.attention.causal'"});
    EXPECT_TRUE(with("llama.attention.causal", true));
    for (const char* type : {"yarn", "longrope", "dynamic"})
        expect_refused(with("llama.rope.scaling.type", type), ErrorKind::unsupported,
                       {"'llama.rope.scaling.type'"});
    // What llama.cpp does not read for the architecture.
    for (const char* foreign : {"rope.freq_base_swa", "attention.sliding_window"}) {
        const auto config = with(std::string("llama.") + foreign, uint32_t{3});
        ASSERT_TRUE(config) << foreign;
        EXPECT_TRUE(config->windows.empty());
        EXPECT_EQ(config->local_rope.n_dims, 0u);
    }
    EXPECT_EQ(n, 2 * (std::size(kKeys) + 2));
    std::printf("%zu values of keys, 0 passed over\n", n + 7);
}

TEST(GgufConfig, a_table_of_divisors_is_read_and_must_fit_the_heads) {
    const auto with_table = [](const std::vector<float>& values) {
        GgufWriter w = sample_llama();
        w.f32_tensor("rope_freqs.weight", {values.size()}, values);
        return config_of(w.bytes());
    };
    EXPECT_EQ(with_table({1.0f, 8.0f})->rope.divisors, (std::vector<double>{1, 8}));
    expect_refused(with_table({1, 1, 1}), ErrorKind::file,
                   {"'rope_freqs.weight'", "is not 2 numbers"});
    for (const float lie : {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN()})
        expect_refused(with_table({1, lie}), ErrorKind::file,
                       {"'rope_freqs.weight'", "0.001 .. 1000000"});
}

TEST(GgufConfig, gemma3_has_windows_in_five_of_six_layers_and_a_base_for_them) {
    GgufWriter w = sample_gemma3(7, 8);
    w.set("gemma3.rope.freq_base", 1e6f).set("gemma3.rope.scaling.factor", 8.0f);
    const Result<ModelConfig> config = config_of(w.bytes());
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->windows, (std::vector<uint32_t>{8, 8, 8, 8, 8, 0, 8}));
    EXPECT_EQ(config->rope_of(5).base, 1e6);
    EXPECT_EQ(config->rope_of(5).linear_factor, 8);
    EXPECT_EQ(config->rope_of(6).base, 1e4);
    EXPECT_EQ(config->rope_of(6).linear_factor, 1);
    EXPECT_EQ(config->embedding_scale, 4.0f);
    EXPECT_EQ(config->attention_scale, 0.25f);
}

}  // namespace
}  // namespace kvik
