// The same request gives the same ids and the same logits hash whichever way it is computed. The
// oracle knows no cache, batch or step: it asks the hash model for the logits of the tokens alone.
#include <gtest/gtest.h>

#include "support/cold_logits.h"
#include "support/random_costs.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

EngineOptions options_of(uint32_t ubatch, uint32_t block_tokens, uint32_t n_blocks) {
    return options_of(HashModel().spec().kv, ubatch, block_tokens, n_blocks);
}

TEST(Exactness, holds_for_every_ubatch_and_block_size_cold_and_warm) {
    const HashModel model;
    Random random(1);
    const GenerateRequest request = request_for(random_tokens(random, 150), 20);
    const Expected expected = oracle(model, request);
    for (const uint32_t ubatch : {1u, 7u, 33u, 512u}) {
        for (const uint32_t block_tokens : {16u, 32u, 64u}) {
            SCOPED_TRACE(::testing::Message() << "ubatch " << ubatch << ", block " << block_tokens);
            StepRig rig(model, options_of(ubatch, block_tokens, 40));
            const StreamResult cold = rig.ask(request);
            expect_same(cold, expected);
            EXPECT_EQ(cold.summary.timings.n_cached_tokens, 0u);
            const StreamResult warm = rig.ask(request);
            expect_same(warm, expected);
            EXPECT_EQ(warm.summary.timings.n_cached_tokens, 150u);
        }
    }
}

TEST(Exactness, holds_beside_seven_others) {
    const HashModel model;
    Random random(3);
    const std::vector<TokenId> shared = random_tokens(random, 40);
    for (const uint32_t ubatch : {7u, 64u}) {
        StepRig rig(model, options_of(ubatch, 16, 200));
        std::vector<GenerateRequest> requests;
        std::vector<std::shared_ptr<StreamChannel>> channels;
        for (uint32_t i = 0; i < 8; ++i) {
            std::vector<TokenId> prompt = i % 2 ? shared : random_tokens(random, 1 + 13 * i);
            const std::vector<TokenId> rest = random_tokens(random, 3 * i);
            prompt.insert(prompt.end(), rest.begin(), rest.end());
            requests.push_back(request_for(prompt, 5 + 3 * i, i));
            channels.push_back(rig.submit(requests.back()));
        }
        rig.run();
        for (uint32_t i = 0; i < 8; ++i) {
            SCOPED_TRACE(::testing::Message() << "request " << i << ", ubatch " << ubatch);
            StreamResult result;
            listen(*channels[i], result);
            expect_same(result, oracle(model, requests[i]));
        }
    }
}

TEST(Exactness, holds_with_an_eviction_for_every_prompt) {
    const HashModel model;
    Random random(4);
    StepRig rig(model, options_of(32, 16, 8));
    for (uint32_t i = 0; i < 12; ++i) {
        const GenerateRequest request = request_for(random_tokens(random, 90), 20, i);
        expect_same(rig.ask(request), oracle(model, request));
    }
    EXPECT_GT(rig.step_loop().cache_stats().n_evicted_blocks, 20u);
}

TEST(Exactness, holds_when_sequences_are_preempted) {
    const HashModel model;
    Random random(5);
    for (const CachePolicy cache : {CachePolicy::reuse, CachePolicy::off}) {
        StepRig rig(model, options_of(32, 16, 8));
        std::vector<GenerateRequest> requests;
        std::vector<std::shared_ptr<StreamChannel>> channels;
        for (uint32_t i = 0; i < 5; ++i) {
            requests.push_back(request_for(random_tokens(random, 10 + i), 80, i));
            requests.back().cache = cache;
            channels.push_back(rig.submit(requests.back()));
        }
        rig.run();
        for (uint32_t i = 0; i < 5; ++i) {
            SCOPED_TRACE(::testing::Message() << "request " << i);
            StreamResult result;
            listen(*channels[i], result);
            expect_same(result, oracle(model, requests[i]));
        }
        EXPECT_GT(rig.step_loop().counts().n_preemptions, 0u);
    }
}

TEST(Exactness, holds_whatever_steps_are_thought_to_cost) {
    const HashModel model;
    Random random(6);
    std::vector<GenerateRequest> requests;
    for (uint32_t i = 0; i < 5; ++i)
        requests.push_back(request_for(random_tokens(random, 5 + 60 * i), 40, i));
    std::vector<Expected> right;
    for (const GenerateRequest& request : requests) right.push_back(oracle(model, request));
    std::vector<uint64_t> n_steps;
    for (uint32_t round = 0; round < 20; ++round) {
        StepRig rig(model, options_of(64, 16, 200));
        std::vector<std::shared_ptr<StreamChannel>> channels;
        for (const GenerateRequest& request : requests) channels.push_back(rig.submit(request));
        do {  // round 0 knows no costs
            if (round > 0) rig.step_loop().use_costs(random_costs(random.generator));
        } while (rig.step());
        n_steps.push_back(rig.step_loop().counts().n_steps);
        for (uint32_t i = 0; i < 5; ++i) {
            SCOPED_TRACE(::testing::Message() << "seed 6, round " << round << ", request " << i);
            StreamResult result;
            listen(*channels[i], result);
            expect_same(result, right[i]);
        }
    }
    EXPECT_GT(*std::max_element(n_steps.begin(), n_steps.end()), n_steps[0]);
}

}  // namespace
}  // namespace kvik
