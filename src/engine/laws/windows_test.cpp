// Layers that see a window forget what lies behind it; where others may go on from, they must not.
#include <gtest/gtest.h>

#include "support/cold_logits.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

class Windows : public ::testing::Test {
  protected:
    static constexpr uint32_t kWindow = 40, kResumeEvery = 1024;

    EngineOptions options(uint32_t n_blocks = 1000) const {
        return options_of(model_.spec().kv, 128, 16, n_blocks);
    }
    std::vector<TokenId> tokens(uint32_t n) { return random_tokens(random_, n); }
    StreamResult ask(StepRig& rig, const GenerateRequest& request) const {
        StreamResult result = rig.ask(request);
        expect_cold(model_, result, request);
        return result;
    }
    uint32_t n_cached(StepRig& rig, std::vector<TokenId> prompt, uint32_t n_new = 1) const {
        return ask(rig, request_for(std::move(prompt), n_new)).summary.timings.n_cached_tokens;
    }

    HashModel model_{{.n_layers = 3, .windows = {0, kWindow, kWindow}}};
    Random random_{1};
};

// Nobody knew of the place where the second branch leaves the first, and what a window had passed
// made room: it goes on from the last of the points that are kept anyway, and is told how far that
// was. For the third one the place is known.
TEST_F(Windows, a_branch_point_is_a_place_to_go_on_from) {
    // Room for one branch in the layers that see all, and for some windows.
    StepRig rig(model_, options(190));
    const std::vector<TokenId> shared = tokens(1500);
    EXPECT_EQ(n_cached(rig, joined(shared, tokens(700))), 0u);
    GenerateRequest second = request_for(joined(shared, tokens(700)), 1);
    second.want_kv_report = true;
    const StreamResult result = ask(rig, second);
    const uint32_t n_second = result.summary.timings.n_cached_tokens;
    EXPECT_GE(n_second, kResumeEvery);
    EXPECT_LT(n_second, 1500u);
    ASSERT_TRUE(result.summary.kv_report.has_value());
    ASSERT_GE(result.summary.kv_report->segments.size(), 2u);
    EXPECT_EQ(result.summary.kv_report->segments[0].n_tokens, n_second);
    EXPECT_EQ(result.summary.kv_report->segments[1].reason, KvReason::resume_point);
    EXPECT_EQ(result.summary.kv_report->segments[1].n_tokens, 1500 - n_second);
    EXPECT_EQ(n_cached(rig, joined(shared, tokens(700))), 1500u);
}

TEST_F(Windows, the_end_of_a_prompt_stays_a_place_to_go_on_from_however_long_the_answer) {
    StepRig rig(model_, options());
    const std::vector<TokenId> prompt = tokens(200);
    const StreamResult result = ask(rig, request_for(prompt, 10 * kWindow));
    const uint64_t n_forwards = model_.n_forwards();
    EXPECT_EQ(n_cached(rig, prompt), 200u);
    EXPECT_EQ(model_.n_forwards(), n_forwards);
    EXPECT_EQ(n_cached(rig, joined(prompt, tokens(50))), 200u);
    // And the end of the answer, whose last token has no KV.
    const std::vector<TokenId> next = joined(joined(prompt, result.ids), tokens(20));
    EXPECT_EQ(n_cached(rig, next), 200 + 10 * kWindow - 1);
}

TEST_F(Windows, ten_turns_compute_each_token_once) {
    StepRig rig(model_, options());
    std::vector<TokenId> conversation;
    for (uint32_t turn = 0; turn < 10; ++turn) {
        const auto n_known = static_cast<uint32_t>(conversation.size());
        conversation = joined(conversation, tokens(100 + 7 * turn));
        const StreamResult result = ask(rig, request_for(conversation, 20));
        EXPECT_EQ(result.summary.timings.n_cached_tokens, turn == 0 ? 0 : n_known - 1)
            << "turn " << turn;
        conversation = joined(conversation, result.ids);
    }
}

// What a long conversation leaves behind its window makes room before anything that others use.
TEST_F(Windows, a_long_conversation_costs_others_no_hit_while_it_slides) {
    const uint32_t n_groups = model_.spec().kv.n_groups();
    // Room for a prompt of 100 tokens, and for 400 of the other in the layers that see all.
    StepRig rig(model_, options(n_groups * (7 + 10) + 400 / 16 + 1));
    const std::vector<TokenId> prompt = tokens(100);
    EXPECT_EQ(n_cached(rig, prompt), 0u);
    const auto sliding = rig.submit(request_for(tokens(20), 350));
    for (StreamResult of_sliding; !of_sliding.ended; listen(*sliding, of_sliding)) {
        const auto other = rig.submit(request_for(prompt, 1));
        StreamResult result;
        while (!result.ended) {
            for (int n = 0; n < 8; ++n) rig.step();
            listen(*other, result);
        }
        EXPECT_EQ(result.summary.timings.n_cached_tokens, 100u);
    }
}

}  // namespace
}  // namespace kvik
