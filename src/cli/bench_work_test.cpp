#include "cli/bench_work.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

constexpr ModelNeeds kNeeds = {.weight_bytes = 3000,
                               .step_bytes = 2000,
                               .token = {.quantised = 500, .floats = 100},
                               .head = {.quantised = 40, .floats = 0}};
constexpr double kKv = 2 * 16 * 2;     // bytes of a position in a layer: one head of 16, f16
constexpr double kScore = 4 * 2 * 16;  // operations of a row and a position in a layer

ModelConfig config(std::vector<uint32_t> windows) {
    ModelConfig config;
    config.n_layers = 2;
    config.n_heads = 2;
    config.head_dim = 16;
    config.windows = std::move(windows);
    return config;
}

BenchWork work(Act act = Act::int8, std::vector<uint32_t> windows = {}) {
    return {
        kNeeds, config(std::move(windows)), {.n_layers = 2, .n_kv_heads = 1, .head_dim = 16}, act};
}

TEST(BenchWork, a_step_reads_weights_and_what_it_sees_once_whatever_its_width) {
    EXPECT_DOUBLE_EQ(work().of_step({.n_past = 0, .n_rows = 1}).read_bytes, 2000 + 2 * kKv);
    EXPECT_DOUBLE_EQ(work().of_step({.n_past = 10, .n_rows = 4}).read_bytes, 2000 + 2 * kKv * 14);
}

TEST(BenchWork, every_row_meets_the_weights_and_only_wanted_rows_meet_the_head) {
    const Work two = work().of_step({.n_past = 0, .n_rows = 2, .n_logits_rows = 1});
    EXPECT_DOUBLE_EQ(two.int8_ops, 2 * (2 * 500 + 40));
    EXPECT_DOUBLE_EQ(two.f32_ops, 2 * 2 * 100 + 2 * kScore * (1 + 2));
}

TEST(BenchWork, without_int8_every_product_is_f32) {
    const Work one = work(Act::f32).of_step({});
    EXPECT_EQ(one.int8_ops, 0);
    EXPECT_DOUBLE_EQ(one.f32_ops, 2 * (500 + 100 + 40) + 2 * kScore);
}

TEST(BenchWork, a_layer_with_a_window_sees_no_further) {
    const Work one = work(Act::int8, {4, 0}).of_step({.n_past = 10, .n_rows = 2});
    EXPECT_DOUBLE_EQ(one.read_bytes, 2000 + kKv * (5 + 12));
    EXPECT_DOUBLE_EQ(one.f32_ops, 2 * 2 * 100 + kScore * (4 + 4 + 11 + 12));
}

TEST(BenchWork, streams_read_their_shared_prefix_once) {
    const Work three = work().of_step(
        {.n_sequences = 3, .n_shared = 8, .n_past = 10, .n_rows = 1, .n_logits_rows = 3});
    EXPECT_DOUBLE_EQ(three.read_bytes, 2000 + 2 * kKv * (8 + 3 * 3));
    EXPECT_DOUBLE_EQ(three.int8_ops, 2 * 3 * (500 + 40));
}

TEST(BenchWork, streams_read_nothing_of_a_prefix_that_their_window_has_left) {
    const Work two = work(Act::int8, {2, 2})
                         .of_step({.n_sequences = 2, .n_shared = 8, .n_past = 10, .n_rows = 1});
    EXPECT_DOUBLE_EQ(two.read_bytes, 2000 + 2 * kKv * 2 * 2);
}

TEST(BenchWork, a_prompt_reads_the_weights_once_a_chunk_and_wants_one_row_of_logits) {
    const Work prompt = work().of_prompt({.n_tokens = 5, .depth = 1, .n_chunk_rows = 3});
    EXPECT_DOUBLE_EQ(prompt.read_bytes, 2 * 2000 + 2 * kKv * (4 + 6));
    EXPECT_DOUBLE_EQ(prompt.int8_ops, 2 * (5 * 500 + 40));
    EXPECT_DOUBLE_EQ(prompt.f32_ops, 2 * 5 * 100 + 2 * kScore * (2 + 3 + 4 + 5 + 6));
}

TEST(BenchWork, decoding_is_its_steps) {
    Work steps = work().of_step({.n_shared = 7, .n_past = 8});
    steps.add(work().of_step({.n_shared = 7, .n_past = 9}));
    const Work decode = work().of_decode({.n_tokens = 2, .depth = 7});
    EXPECT_DOUBLE_EQ(decode.read_bytes, steps.read_bytes);
    EXPECT_DOUBLE_EQ(decode.int8_ops, steps.int8_ops);
}

}  // namespace
}  // namespace kvik::cli
