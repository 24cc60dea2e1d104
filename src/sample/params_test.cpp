#include "sample/params.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace kvik {
namespace {

std::string message(const std::function<void(SamplingParams&)>& change) {
    SamplingParams params;
    change(params);
    const Result<void> result = validate(params, 100);
    if (result) return "";
    EXPECT_EQ(result.error().kind, ErrorKind::usage);
    return result.error().message;
}

}  // namespace

TEST(SamplingParams, are_valid_as_they_come) {
    EXPECT_TRUE(validate({}, 100));
}

TEST(SamplingParams, say_which_temperature_is_wrong_and_what_would_be_right) {
    EXPECT_EQ(message([](auto& p) { p.temperature = 200; }),
              "temperature is 200: it must be 0 (greedy) or between 0.001 and 100");
}

TEST(SamplingParams, may_be_greedy) {
    EXPECT_EQ(message([](auto& p) { p.temperature = 0; }), "");
}

TEST(SamplingParams, have_a_range_for_every_field) {
    EXPECT_EQ(message([](auto& p) { p.top_p = 1.5f; }), "top_p is 1.5: it must be between 0 and 1");
    EXPECT_EQ(message([](auto& p) { p.min_p = -0.5f; }),
              "min_p is -0.5: it must be between 0 and 1");
    EXPECT_EQ(message([](auto& p) { p.repeat_penalty = 0; }),
              "repeat_penalty is 0: it must be between 0.1 and 10");
    EXPECT_EQ(message([](auto& p) { p.presence_penalty = 101; }),
              "presence_penalty is 101: it must be between -100 and 100");
    EXPECT_EQ(message([](auto& p) { p.frequency_penalty = -101; }),
              "frequency_penalty is -101: it must be between -100 and 100");
}

TEST(SamplingParams, are_never_nan) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_NE(message([&](auto& p) { p.temperature = nan; }), "");
    EXPECT_NE(message([&](auto& p) { p.top_p = nan; }), "");
    EXPECT_NE(message([&](auto& p) { p.min_p = nan; }), "");
    EXPECT_NE(message([&](auto& p) { p.repeat_penalty = nan; }), "");
    EXPECT_NE(message([&](auto& p) { p.logit_bias = {{1, nan}}; }), "");
}

TEST(SamplingParams, name_the_token_whose_bias_is_wrong) {
    EXPECT_EQ(message([](auto& p) {
                  p.logit_bias = {{100, 1.0f}};
              }),
              "logit_bias names token 100: ids go from 0 to 99");
    EXPECT_EQ(message([](auto& p) {
                  p.logit_bias = {{-1, 1.0f}};
              }),
              "logit_bias names token -1: ids go from 0 to 99");
    EXPECT_EQ(message([](auto& p) {
                  p.logit_bias = {{7, INFINITY}};
              }),
              "logit_bias of token 7 is inf: it must be between -10000 and 10000");
}

TEST(SamplingParams, may_forbid_a_token) {
    EXPECT_EQ(message([](auto& p) { p.logit_bias = {{7, -INFINITY}}; }), "");
}

TEST(SamplingParams, hold_at_most_one_bias_a_token) {
    EXPECT_NE(message([](auto& p) { p.logit_bias.assign(101, {1, 1.0f}); }), "");
}

}  // namespace kvik
