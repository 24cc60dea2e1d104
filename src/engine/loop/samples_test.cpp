// Several samples of one prompt are what each would be alone, and share what they can.
#include <gtest/gtest.h>

#include "engine/request/request_state.h"
#include "support/requests.h"
#include "support/step_rig.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

StreamResult all_of(Stream& stream) {
    StreamResult result;
    for (;;) {
        auto event = stream.next();
        if (!event) result.error = event.error();
        if (!event || !*event) break;
        result.ids.push_back((*event)->id);
        result.logprobs.push_back((*event)->logprob);
    }
    result.summary = stream.summary();
    return result;
}

class SamplesTest : public ::testing::Test {
  protected:
    std::unique_ptr<Engine> open(uint32_t n_blocks) {
        auto engine = Engine::over(std::make_unique<HashModel>(),
                                   options_of(model_.spec().kv, 64, 16, n_blocks));
        KVIK_CHECK(engine.has_value(), "the engine opens");
        return std::move(*engine);
    }

    HashModel model_;
    Random random_{1};
};

// Two drawn seeds of 32 bits are equal once in 2^32 runs.
TEST_F(SamplesTest, a_seed_that_nobody_gives_is_drawn_and_gives_the_answer_again) {
    const auto engine = open(200);
    GenerateRequest request = request_for(random_tokens(random_, 40), 30);
    request.sampling.seed.reset();
    auto first = engine->submit(request), second = engine->submit(request);
    ASSERT_TRUE(first.has_value() && second.has_value());
    const StreamResult one = all_of(*first), other = all_of(*second);
    EXPECT_NE(one.summary.seed, other.summary.seed);
    request.sampling.seed = one.summary.seed;
    auto again = engine->submit(request);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(all_of(*again).ids, one.ids);

    request.sampling.seed.reset();
    auto samples = engine->submit_samples(request, 3);
    ASSERT_TRUE(samples.has_value());
    const uint64_t drawn = all_of((*samples)[0]).summary.seed;
    for (uint32_t i = 1; i < 3; ++i) EXPECT_EQ(all_of((*samples)[i]).summary.seed, drawn + i);
}

TEST_F(SamplesTest, are_the_answers_of_their_seeds_each_alone) {
    for (const uint32_t n_blocks : {200u, 12u}) {
        const GenerateRequest request = request_for(random_tokens(random_, 100), 30, 40);
        const auto engine = open(n_blocks);
        auto streams = engine->submit_samples(request, 5);
        ASSERT_TRUE(streams.has_value());
        ASSERT_EQ(streams->size(), 5u);
        for (uint32_t i = 0; i < 5; ++i) {
            GenerateRequest alone = request;
            alone.sampling.seed = 40 + i;
            const Expected right =
                oracle([&](std::span<const TokenId> t) { return model_.cold_logits(t); }, alone);
            const StreamResult result = all_of((*streams)[i]);
            EXPECT_EQ(result.ids, right.ids) << i;
            EXPECT_EQ(result.summary.logits_sha256, right.hash) << i;
        }
        const uint64_t n_rows = engine->cache_stats().n_computed_tokens;
        EXPECT_EQ(n_blocks == 200, n_rows == 100u + 5 * 29) << n_rows;
    }
}

TEST_F(SamplesTest, are_refused_together) {
    const auto engine = open(200);
    EXPECT_FALSE(engine->submit_samples(request_for({}, 30), 5).has_value());
    EXPECT_FALSE(engine->submit_samples(request_for({1}, 30), 0).has_value());
    GenerateRequest request = request_for({1}, 30);
    request.beams.emplace();
    EXPECT_FALSE(engine->submit_samples(request, 2).has_value());
}

// 100 tokens: six whole blocks, and a tail that each copies and outgrows by one block.
TEST_F(SamplesTest, hold_the_prompts_blocks_once_and_a_tail_each) {
    StepRig rig(model_, options_of(model_.spec().kv, 64, 16, 200));
    const GenerateRequest request = request_for(random_tokens(random_, 100), 20);
    const auto group = std::make_shared<SequenceGroup>();
    std::vector<std::shared_ptr<StreamChannel>> channels;
    for (uint32_t i = 0; i < 4; ++i) {
        channels.push_back(std::make_shared<StreamChannel>());
        GenerateRequest one = request;
        *one.sampling.seed += i;
        rig.queue().push({std::move(one), channels.back(), 0, group});
    }
    rig.ask(request_for(random_tokens(random_, 50), 9));  // none of the group
    StreamResult last;
    listen(*channels[3], last);
    EXPECT_EQ(last.summary.n_kv_blocks_shared, 6u + 4 * 2);
    EXPECT_EQ(last.summary.n_kv_blocks_copied, 4u * (6 + 2));
}

}  // namespace
}  // namespace kvik
