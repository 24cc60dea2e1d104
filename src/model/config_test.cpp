#include "model/config.h"

#include <gtest/gtest.h>

#include <limits>

#include "testing/expect_error.h"

namespace kvik {
namespace {

ModelConfig valid_config() {
    ModelConfig config;
    config.n_layers = 2;
    config.hidden_size = 64;
    config.n_heads = 4;
    config.n_kv_heads = 2;
    config.head_dim = 16;
    config.intermediate_size = 128;
    config.vocab_size = 100;
    config.context_length = 256;
    config.norm_eps = 1e-5f;
    config.attention_scale = 0.25f;
    config.rope.n_dims = 16;
    return config;
}

ConfigNames names() {
    ConfigNames names;
    names.file = "m";
    for (size_t i = 0; i < kNConfigFields; ++i) names.of[i] = "key" + std::to_string(i) + "!";
    return names;
}

std::string name_of(ConfigField field) {
    return "key" + std::to_string(static_cast<size_t>(field)) + "!";
}

TEST(Config, an_ordinary_one_is_valid) {
    EXPECT_TRUE(validate(valid_config(), names()));
}

TEST(Config, every_number_has_a_range_and_its_refusal_names_both) {
    struct Case {
        ConfigField field;
        uint32_t ModelConfig::*member;
        uint32_t max;
    };
    for (const Case& c :
         {Case{ConfigField::n_layers, &ModelConfig::n_layers, 1024},
          Case{ConfigField::hidden_size, &ModelConfig::hidden_size, 131072},
          Case{ConfigField::n_heads, &ModelConfig::n_heads, 1024},
          Case{ConfigField::n_kv_heads, &ModelConfig::n_kv_heads, 1024},
          Case{ConfigField::head_dim, &ModelConfig::head_dim, 1024},
          Case{ConfigField::intermediate_size, &ModelConfig::intermediate_size, 1048576},
          Case{ConfigField::vocab_size, &ModelConfig::vocab_size, 2097152},
          Case{ConfigField::context_length, &ModelConfig::context_length, 33554432}})
        for (const uint32_t value : {0u, c.max + 1, UINT32_MAX}) {
            ModelConfig config = valid_config();
            config.*c.member = value;
            expect_refused(validate(config, names()), ErrorKind::file,
                           {"m: " + name_of(c.field) + " is " + std::to_string(value),
                            " .. " + std::to_string(c.max)});
        }
}

TEST(Config, reals_are_finite_and_in_range) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double lie : {0.0, -1.0, kNan, kInfinity, -kInfinity}) {
        ModelConfig config = valid_config();
        config.norm_eps = static_cast<float>(lie);
        expect_refused(validate(config, names()), ErrorKind::file,
                       {name_of(ConfigField::norm_eps)});
        config = valid_config();
        config.rope.base = lie;
        expect_refused(validate(config, names()), ErrorKind::file,
                       {name_of(ConfigField::rope_base)});
        config = valid_config();
        config.rope.linear_factor = lie;
        expect_refused(validate(config, names()), ErrorKind::file,
                       {name_of(ConfigField::rope_linear_factor)});
    }
}

TEST(Config, kv_heads_divide_the_heads) {
    ModelConfig config = valid_config();
    for (const uint32_t n : {3u, 8u}) {
        config.n_kv_heads = n;
        expect_refused(validate(config, names()), ErrorKind::file,
                       {name_of(ConfigField::n_kv_heads), "divide", name_of(ConfigField::n_heads),
                        "which is 4"});
    }
}

TEST(Config, rope_turns_pairs_inside_a_head) {
    ModelConfig config = valid_config();
    config.rope.n_dims = 18;
    expect_refused(validate(config, names()), ErrorKind::file,
                   {name_of(ConfigField::rope_n_dims), "at most", "which is 16"});
    config.rope.n_dims = 7;
    expect_refused(validate(config, names()), ErrorKind::file,
                   {name_of(ConfigField::rope_n_dims), "is 7", "even"});
}

TEST(Config, a_layer_without_a_window_sees_everything) {
    ModelConfig config = valid_config();
    EXPECT_EQ(config.window(1), 0u);
    config.windows = {512, 0};
    EXPECT_EQ(config.window(0), 512u);
    EXPECT_TRUE(validate(config, names()));
}

}  // namespace
}  // namespace kvik
