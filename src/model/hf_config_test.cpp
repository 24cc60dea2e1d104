// config.json as the families write it, in both spellings, and what is refused in it.
#include "model/hf_config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "testing/expect_error.h"
#include "testing/tiny_models.h"

namespace kvik {
namespace {

using Json = nlohmann::json;

Result<ModelConfig> read(const Json& config) {
    return config_from_hf_text(config.dump(), "config.json");
}

// A sample with some fields changed; null takes one away.
Result<ModelConfig> with(const Json& changes, const char* type = "llama") {
    Json config = Json::parse(tiny_model(type).config);
    config.merge_patch(changes);
    return read(config);
}

TEST(HfConfig, every_architecture_is_read_as_it_was_written) {
    for (const std::string& type : tiny_model_types()) {
        const TinyModel model = tiny_model(type);
        const Result<ModelConfig> config = config_from_hf_text(model.config, "config.json");
        ASSERT_TRUE(config) << config.error().message;
        EXPECT_EQ(config->n_layers, model.n_layers);
        EXPECT_EQ(config->hidden_size, model.hidden_size);
        EXPECT_EQ(config->n_kv_heads, model.n_kv_heads);
        EXPECT_EQ(config->head_dim, model.head_dim);
        EXPECT_EQ(config->intermediate_size, model.intermediate_size);
        EXPECT_EQ(config->vocab_size, model.vocab_size);
        EXPECT_EQ(config->context_length, model.context_length);
        EXPECT_EQ(config->windows, model.windows);
        EXPECT_EQ(config->tied_lm_head, model.tied);
        EXPECT_EQ(config->norm_eps, 1e-5f);
    }
}

TEST(HfConfig, both_spellings_of_rope_mean_the_same) {
    const Json llama3 = {{"rope_type", "llama3"},
                         {"factor", 8.0},
                         {"low_freq_factor", 1.0},
                         {"high_freq_factor", 4.0},
                         {"original_max_position_embeddings", 32}};
    Json parameters = llama3;
    parameters["rope_theta"] = 50000.0;
    const auto old_way = with({{"rope_theta", 50000.0}, {"rope_scaling", llama3}});
    const auto new_way = with({{"rope_theta", nullptr}, {"rope_parameters", parameters}});
    ASSERT_TRUE(old_way) << old_way.error().message;
    ASSERT_TRUE(new_way) << new_way.error().message;
    EXPECT_EQ(old_way->rope.base, 50000.0);
    EXPECT_EQ(new_way->rope.base, 50000.0);
    ASSERT_EQ(old_way->rope.divisors.size(), 8u);
    EXPECT_EQ(old_way->rope.divisors, new_way->rope.divisors);
    EXPECT_EQ(old_way->rope.divisors.front(), 1.0);
    EXPECT_EQ(old_way->rope.divisors.back(), 8.0);
    const auto linear = with({{"rope_scaling", {{"type", "linear"}, {"factor", 4.0}}}});
    EXPECT_EQ(linear->rope.linear_factor, 4.0);
}

TEST(HfConfig, a_part_of_a_head_turns_nowhere) {
    EXPECT_EQ(with({{"partial_rotary_factor", 0.5}})->rope.n_dims, 16u);
    expect_refused(with({{"partial_rotary_factor", 0.5},
                         {"rope_scaling", {{"rope_type", "linear"}, {"factor", 2.0}}}}),
                   ErrorKind::unsupported, {"'rope_scaling.partial_rotary_factor' is 0.5"});
}

TEST(HfConfig, windows_come_by_list_by_period_and_by_number_of_layers_before_them) {
    using Windows = std::vector<uint32_t>;
    EXPECT_EQ(with({{"sliding_window", 9}})->windows, Windows());  // no field of a llama
    EXPECT_EQ(with({{"sliding_window", 9}}, "mistral")->windows, Windows(3, 9));
    EXPECT_EQ(with({{"sliding_window", 9}, {"use_sliding_window", false}}, "mistral")->windows,
              Windows(3, 9));
    EXPECT_EQ(with({{"sliding_window", nullptr}}, "mistral")->windows, Windows(3, 4096));
    Json config = Json::parse(tiny_model("mistral").config);
    config["sliding_window"] = nullptr;
    EXPECT_EQ(read(config)->windows, Windows());
    const Json used = {{"sliding_window", 9}, {"use_sliding_window", true}};
    EXPECT_EQ(with(used, "qwen3")->windows, Windows());  // after 28 layers
    Json some = used;
    some["max_window_layers"] = 2;
    EXPECT_EQ(with(some, "qwen3")->windows, (Windows{0, 0, 9}));
    EXPECT_EQ(with({{"sliding_window", 9}, {"layer_types", nullptr}, {"sliding_window_pattern", 2}},
                   "gemma3_text")
                  ->windows,
              (Windows{9, 0, 9, 0}));
    const Json kinds = {"full_attention", "sliding_attention", "full_attention"};
    for (const char* type : {"mistral", "qwen3"}) {
        Json list = used;
        list["layer_types"] = kinds;
        EXPECT_EQ(with(list, type)->windows, (Windows{0, 9, 0}));
        list["layer_types"] = {"full_attention"};
        expect_refused(with(list, type), ErrorKind::file,
                       {"'layer_types' has 1 entries for 3 layers"});
        list["layer_types"] = {"full_attention", "linear_attention", "x"};
        expect_refused(with(list, type), ErrorKind::unsupported,
                       {"'layer_types'", "linear_attention", "layer 1"});
    }
    expect_refused(with({{"layer_types", kinds}}, "qwen3"), ErrorKind::file,
                   {"'use_sliding_window'"});
}

TEST(HfConfig, gemma3_has_a_base_for_layers_with_a_window_in_either_spelling) {
    const auto new_way = config_from_hf_text(tiny_model("gemma3_text").config, "config.json");
    EXPECT_EQ(new_way->rope_of(0).base, 1e4);
    EXPECT_EQ(new_way->rope_of(2).base, 1e6);
    EXPECT_EQ(new_way->embedding_scale, 8.0f);
    Json config = Json::parse(tiny_model("gemma3_text").config);
    config.erase("rope_parameters");
    config["rope_theta"] = 1e6;
    config["rope_local_base_freq"] = 500.0;
    config["rope_scaling"] = {{"rope_type", "linear"}, {"factor", 8.0}};
    const auto old_way = read(config);
    EXPECT_EQ(old_way->rope_of(0).base, 500.0);
    EXPECT_EQ(old_way->rope_of(0).linear_factor, 1.0);
    EXPECT_EQ(old_way->rope_of(2).base, 1e6);
    EXPECT_EQ(old_way->rope_of(2).linear_factor, 8.0);
}

TEST(HfConfig, what_is_not_computed_is_refused_by_name) {
    const auto refused = [](const char* type, const Json& changes, std::string_view words) {
        expect_refused(with(changes, type), ErrorKind::unsupported, {"config.json: key '", words});
    };
    refused("llama", {{"model_type", "mamba"}},
            "'model_type' is 'mamba', kvik runs llama, mistral");
    refused("llama", {{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 2.0}}}},
            "'rope_scaling.rope_type' is 'yarn'");
    refused("llama", {{"hidden_act", "relu"}}, "'hidden_act' is 'relu'");
    refused("llama", {{"quantization_config", {{"bits", 4}}}}, "'quantization_config'");
    refused("llama", {{"per_layer_config", {{"0", {{"head_dim", 4}}}}}}, "'per_layer_config'");
    refused("llama", {{"is_causal", false}}, "'is_causal' is false");
    refused("gemma3_text", {{"attn_logit_softcapping", 50.0}}, "'attn_logit_softcapping'");
    refused("gemma3_text", {{"final_logit_softcapping", 50.0}}, "'final_logit_softcapping'");
    refused("gemma3_text", {{"use_bidirectional_attention", true}},
            "'use_bidirectional_attention' is true");
    refused("gpt2", {{"scale_attn_weights", false}}, "'scale_attn_weights' is false");
    EXPECT_TRUE(with({{"attn_logit_softcapping", 50.0}, {"num_local_experts", 8}}));
}

TEST(HfConfig, a_field_of_the_wrong_type_or_out_of_range_is_named) {
    const auto refused = [](const Json& changes, std::string_view words,
                            const char* type = "llama") {
        expect_refused(with(changes, type), ErrorKind::file, {"config.json: key '", words});
    };
    refused({{"model_type", nullptr}}, "'model_type' is missing");
    refused({{"model_type", 3}}, "'model_type' is '3', not a text");
    refused({{"hidden_size", -1}}, "'hidden_size' is '-1', not a whole number");
    refused({{"hidden_size", uint64_t{1} << 63}}, "'hidden_size' is '9223372036854775808'");
    refused({{"num_hidden_layers", 0}}, "'num_hidden_layers' is 0, the range is 1 .. 1024");
    refused({{"num_hidden_layers", 4000000000u}}, "'num_hidden_layers' is 4000000000");
    refused({{"num_attention_heads", 0}}, "'num_attention_heads' is 0");
    refused({{"num_key_value_heads", 3}}, "'num_key_value_heads' is 3, it must divide");
    refused({{"num_attention_heads", 5}, {"head_dim", nullptr}}, "it must divide hidden_size");
    refused({{"rms_norm_eps", "small"}}, "'rms_norm_eps' is '\"small\"', not a number");
    refused({{"rope_scaling", {{"type", "linear"}}}}, "'rope_scaling.factor' is missing");
    refused({{"rope_theta", 0.5}}, "'rope_theta' is 0.5");
    refused({{"sliding_window", 4000000000u}}, "'sliding_window' is 4000000000", "mistral");
    refused({{"sliding_window", 0}}, "'sliding_window' is 0", "mistral");
    refused({{"sliding_window_pattern", 0}, {"layer_types", nullptr}},
            "'sliding_window_pattern' is 0", "gemma3_text");
    refused({{"query_pre_attn_scalar", 0}}, "'query_pre_attn_scalar'", "gemma3_text");
    Json config = Json::parse(tiny_model("llama").config);
    config["hidden_size"] = nullptr;
    expect_refused(read(config), ErrorKind::file,
                   {"key 'hidden_size' is null", "which stands for 4096"});
}

TEST(HfConfig, what_is_no_object_is_refused) {
    expect_refused(config_from_hf_text("[]", "config.json"), ErrorKind::file,
                   {"config.json", "no JSON object"});
    expect_refused(config_from_hf_text("{", "config.json"), ErrorKind::file, {"config.json"});
}

}  // namespace
}  // namespace kvik
