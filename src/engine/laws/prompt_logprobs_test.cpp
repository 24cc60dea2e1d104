// Asking for the logprobs of a prompt does not switch the cache off: they are kept, and equal those
// of a cold run.
#include <gtest/gtest.h>

#include "sample/logprob.h"
#include "support/cold_logits.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

class PromptLogprobsLaw : public ::testing::Test {
  protected:
    StepRig rig(uint32_t n_blocks = 200, uint32_t ubatch = 64) const {
        return StepRig(model_, options_of(model_.spec().kv, ubatch, 16, n_blocks));
    }
    std::vector<TokenId> tokens(uint32_t n) { return random_tokens(random_, n); }
    static GenerateRequest asking(std::vector<TokenId> prompt, uint32_t n_new = 1) {
        GenerateRequest request = request_for(std::move(prompt), n_new);
        request.want_prompt_logprobs = true;
        return request;
    }
    std::vector<float> cold(std::span<const TokenId> prompt) const {
        std::vector<float> values = {0};
        for (size_t n = 1; n < prompt.size(); ++n) {
            const double value = log_softmax_at(model_.cold_logits(prompt.first(n)), prompt[n]);
            values.push_back(static_cast<float>(value));
        }
        return values;
    }
    // The answer's summary, whose logprobs were the oracle's.
    Summary ask(StepRig& rig, const GenerateRequest& request) const {
        const StreamResult result = rig.ask(request);
        expect_cold(model_, result, request);
        EXPECT_EQ(result.summary.prompt_logprobs, cold(request.prompt));
        return result.summary;
    }

    HashModel model_;
    Random random_{1};
};

TEST_F(PromptLogprobsLaw, of_a_prompt_asked_again_cost_no_forward_pass) {
    for (const uint32_t n : {1u, 2u, 16u, 33u, 150u}) {
        StepRig r = rig();
        const GenerateRequest request = asking(tokens(n));
        ask(r, request);
        const uint64_t n_forwards = model_.n_forwards();
        EXPECT_EQ(ask(r, request).timings.n_cached_tokens, n);
        EXPECT_EQ(model_.n_forwards(), n_forwards);
    }
}

TEST_F(PromptLogprobsLaw, of_a_longer_prompt_are_computed_from_where_the_kept_ones_end) {
    StepRig r = rig();
    const std::vector<TokenId> prompt = tokens(100);
    ask(r, asking(prompt));
    const uint64_t n_before = model_.n_rows_computed();
    ask(r, asking(joined(prompt, tokens(20))));
    // The first new one comes from the row of the last known token.
    EXPECT_LE(model_.n_rows_computed() - n_before, 20u + 2);
}

TEST_F(PromptLogprobsLaw,
       of_a_prompt_cached_without_them_are_computed_and_leave_the_cache_as_it_is) {
    StepRig r = rig();
    const std::vector<TokenId> prompt = tokens(100);
    r.ask(request_for(prompt, 1));
    const uint32_t n_used = r.n_used_blocks();
    ask(r, asking(prompt));
    EXPECT_EQ(r.n_used_blocks(), n_used);
    const uint64_t n_forwards = model_.n_forwards();
    r.ask(request_for(prompt, 1));
    ask(r, asking(prompt));
    EXPECT_EQ(model_.n_forwards(), n_forwards);
}

TEST_F(PromptLogprobsLaw, are_published_with_the_prompt_for_others_to_go_on_from) {
    StepRig r = rig();
    const std::vector<TokenId> prompt = tokens(100);
    ask(r, asking(prompt));
    EXPECT_EQ(r.ask(request_for(joined(prompt, {5}), 1)).summary.timings.n_cached_tokens, 100u);
}

TEST_F(PromptLogprobsLaw, are_the_same_of_a_sequence_that_is_preempted) {
    StepRig r = rig(9, 1);
    GenerateRequest request = asking(tokens(80), 2);
    r.submit(request_for(tokens(3), 100));  // is older, and takes its blocks
    const auto channel = r.submit(request);
    r.run();
    StreamResult result;
    listen(*channel, result);
    EXPECT_GT(r.step_loop().counts().n_preemptions, 0u);
    EXPECT_EQ(result.summary.prompt_logprobs, cold(request.prompt));
    expect_cold(model_, result, request);
}

TEST_F(PromptLogprobsLaw, are_nobody_elses) {
    StepRig r = rig();
    GenerateRequest request = asking(tokens(50));
    request.cache_salt = "a";
    ask(r, request);
    request.cache_salt = "b";
    EXPECT_EQ(ask(r, request).timings.n_cached_tokens, 0u);
    request.cache = CachePolicy::off;
    request.cache_salt = "a";
    EXPECT_EQ(ask(r, request).timings.n_cached_tokens, 0u);
}

}  // namespace
}  // namespace kvik
