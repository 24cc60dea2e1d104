#include "cli/flags/options.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kvik::cli {
namespace {

struct Options {
    EngineOptions engine;
    AnswerOptions answer;
    SamplingParams sampling;

    Result<Parsed> parse(const std::vector<std::string>& args) {
        Flags flags("run", "one answer");
        add_answer_flags(flags, answer);
        add_sampling_flags(flags, sampling);
        add_engine_flags(flags, engine);
        add_cache_switch(flags, engine);
        add_draft_flag(flags);
        return flags.parse(args, [](const std::string&) { return std::nullopt; });
    }
};

TEST(Options, each_flag_lands_in_its_field) {
    Options o;
    ASSERT_TRUE(o.parse({"--ctx=100",
                         "--threads=2",
                         "--kv=f32",
                         "--cache-ram=2G",
                         "--block=64",
                         "--ubatch=33",
                         "--isa=avx2",
                         "--act=f32",
                         "--calibrate=off",
                         "--no-cache",
                         "-n=5",
                         "--stop=a",
                         "--stop=b",
                         "--ignore-eos",
                         "--temp=0",
                         "--top-k=3",
                         "--top-p=0.5",
                         "--min-p=0",
                         "--seed=18446744073709551615",
                         "--draft=none"}));
    EXPECT_EQ(o.engine.context, 100u);
    EXPECT_EQ(o.engine.n_threads, 2u);
    EXPECT_EQ(o.engine.kv_type, KvType::f32);
    EXPECT_EQ(o.engine.cache_bytes, 2ull << 30);
    EXPECT_EQ(o.engine.block_tokens, 64u);
    EXPECT_EQ(o.engine.ubatch, 33u);
    EXPECT_EQ(o.engine.isa, "avx2");
    EXPECT_EQ(o.engine.act, "f32");
    EXPECT_EQ(o.engine.calibrate, Calibrate::off);
    EXPECT_EQ(o.engine.cache, CachePolicy::off);
    EXPECT_EQ(o.answer.max_new_tokens, 5u);
    EXPECT_EQ(o.answer.stop, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(o.answer.end_tokens, EndTokens::ignore);
    EXPECT_EQ(o.sampling.temperature, 0);
    EXPECT_EQ(o.sampling.top_k, 3u);
    EXPECT_EQ(o.sampling.top_p, 0.5f);
    EXPECT_EQ(o.sampling.min_p, 0);
    EXPECT_EQ(o.sampling.seed, UINT64_MAX);
}

TEST(Options, what_the_engine_lacks_is_unsupported_not_misuse) {
    EXPECT_EQ(Options().parse({"--draft", "ngram"}).error().kind, ErrorKind::unsupported);
    EXPECT_EQ(Options().parse({"--kv", "q9"}).error().kind, ErrorKind::usage);
}

TEST(Options, values_out_of_range_are_refused) {
    for (const char* arg :
         {"--temp=-0.1", "--temp=nan", "--temp=0.0005", "--temp=1e-60", "--top-p=1.1",
          "--min-p=1.1", "--repeat-penalty=0", "--ctx=-1", "--threads=0", "--ubatch=0",
          "--block=17", "--cache-ram=0", "-n=4294967295", "--stop=", "--act=int4"})
        EXPECT_FALSE(Options().parse({arg})) << arg;
}

TEST(Options, numbers_that_stand_for_something_in_llama_cpp) {
    Options o;
    ASSERT_TRUE(o.parse({"-c", "0", "-t", "3", "-t", "-1", "-n", "-1"}));
    EXPECT_EQ(o.engine.context, kModelContext);
    EXPECT_EQ(o.engine.n_threads, 0u);
    EXPECT_EQ(o.answer.max_new_tokens, UINT32_MAX);
}

TEST(Options, a_window_of_penalties_is_refused_where_it_would_make_a_difference) {
    EXPECT_TRUE(Options().parse({"--repeat-last-n", "64"}));
    EXPECT_TRUE(Options().parse({"--repeat-last-n", "-1", "--repeat-penalty", "1.1"}));
    const auto refused = Options().parse({"--repeat-penalty", "1.1", "--repeat-last-n", "64"});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("--repeat-last-n 64"), std::string::npos);
}

TEST(Options, k_and_v_have_one_type) {
    Options o;
    ASSERT_TRUE(o.parse({"-ctk", "f16", "-ctv", "q8_0", "-ctk", "q8_0"}));
    EXPECT_EQ(o.engine.kv_type, KvType::q8);
    EXPECT_FALSE(Options().parse({"-ctk", "q8_0", "-ctv", "f16"}));
}

TEST(Options, a_number_is_refused_as_the_engine_would_refuse_it) {
    SamplingParams params;
    params.temperature = 0.0005f;
    EXPECT_EQ(Options().parse({"--temp", "0.0005"}).error().message,
              "--temp: " + validate(params, 10).error().message);
    params = {};
    params.logit_bias = {{5, 20000.0f}};
    EXPECT_EQ(Options().parse({"--logit-bias", "5:20000"}).error().message,
              "--logit-bias: " + validate(params, 10).error().message);
    EXPECT_TRUE(Options().parse({"--logit-bias", "5:-10000"}));
}

TEST(Options, a_logit_bias_is_a_list_of_pairs) {
    Options o;
    ASSERT_TRUE(o.parse({"--logit-bias", "5:1.5,7:-inf"}));
    ASSERT_EQ(o.sampling.logit_bias.size(), 2u);
    EXPECT_EQ(o.sampling.logit_bias[0], std::pair(TokenId{5}, 1.5f));
    EXPECT_EQ(o.sampling.logit_bias[1].first, 7);
    EXPECT_TRUE(std::isinf(o.sampling.logit_bias[1].second));
    for (const char* text : {"", "5", "5:", ":1", "5:x", "5:nan", "5:inf", "5:1,"})
        EXPECT_FALSE(Options().parse({"--logit-bias", text})) << text;
}

}  // namespace
}  // namespace kvik::cli
