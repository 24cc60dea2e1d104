// What one step does, and what it leaves alone.
#include "engine/loop/step_loop.h"

#include <gtest/gtest.h>

#include "sample/logprob.h"
#include "support/requests.h"
#include "support/step_rig.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

class StepLoopTest : public ::testing::Test {
  protected:
    EngineOptions options(uint32_t ubatch = 64, uint32_t n_blocks = 200) {
        return options_of(model_.spec().kv, ubatch, 16, n_blocks);
    }
    std::vector<TokenId> tokens(uint32_t n) { return random_tokens(random_, n); }
    Expected expected(const GenerateRequest& request) {
        return oracle([&](std::span<const TokenId> t) { return model_.cold_logits(t); }, request);
    }
    static StreamResult told_by(StreamChannel& channel) {
        StreamResult result;
        listen(channel, result);
        return result;
    }

    HashModel model_;
    Random random_{1};
};

TEST_F(StepLoopTest, computes_one_token_of_a_cached_prompt_whose_logits_it_lacks) {
    StepRig rig(model_, options());
    std::vector<TokenId> prompt = tokens(77);
    rig.ask(request_for(prompt, 1));
    prompt.resize(50);
    const GenerateRequest shorter = request_for(prompt, 1);
    const StreamResult result = rig.ask(shorter);
    EXPECT_EQ(model_.n_rows_computed(), 78u);
    EXPECT_EQ(result.summary.timings.n_cached_tokens, 49u);
    EXPECT_EQ(result.ids, expected(shorter).ids);
}

TEST_F(StepLoopTest, shares_nothing_between_salts_neither_cached_nor_as_follower) {
    StepRig rig(model_, options());
    GenerateRequest request = request_for(tokens(77), 1);
    const Expected right = expected(request);
    std::vector<std::shared_ptr<StreamChannel>> channels;
    for (const char* salt : {"", "a", "b"}) {
        request.cache_salt = salt;
        channels.push_back(rig.submit(request));
    }
    rig.run();
    EXPECT_EQ(model_.n_rows_computed(), 3 * 77u);
    for (const auto& channel : channels) EXPECT_EQ(told_by(*channel).ids, right.ids);
    EXPECT_EQ(rig.ask(request).summary.timings.n_cached_tokens, 77u);
}

TEST_F(StepLoopTest, goes_on_from_an_answer_as_from_a_prompt) {
    StepRig rig(model_, options());
    const std::vector<TokenId> prompt = tokens(30);
    const StreamResult first = rig.ask(request_for(prompt, 20));
    // The last token picked has no KV yet; the new turn's three follow it.
    const StreamResult second =
        rig.ask(request_for(joined(joined(prompt, first.ids), tokens(3)), 1));
    EXPECT_EQ(second.summary.timings.n_cached_tokens, 30u + 19);
    EXPECT_EQ(second.summary.timings.n_prompt_tokens, 30u + 20 + 3);
}

TEST_F(StepLoopTest, neither_finds_nor_publishes_where_the_cache_is_off) {
    for (const bool whole_engine : {false, true}) {
        EngineOptions o = options();
        o.cache = whole_engine ? CachePolicy::off : CachePolicy::reuse;
        StepRig rig(model_, o);
        GenerateRequest request = request_for(tokens(40), 3);
        if (!whole_engine) request.cache = CachePolicy::off;
        rig.ask(request);
        EXPECT_EQ(rig.ask(request).summary.timings.n_cached_tokens, 0u);
        EXPECT_EQ(rig.step_loop().cache_stats().n_cached_tokens, 0u);
        EXPECT_EQ(rig.n_used_blocks(), 0u);
    }
}

// ---- in-flight prefixes ----

TEST_F(StepLoopTest, computes_the_common_prefix_of_requests_that_arrive_together_once) {
    StepRig rig(model_, options());
    const std::vector<TokenId> shared = tokens(100);
    std::vector<GenerateRequest> requests;
    std::vector<std::shared_ptr<StreamChannel>> channels;
    for (uint32_t i = 0; i < 5; ++i) {
        requests.push_back(request_for(joined(shared, tokens(3)), 1, i));
        channels.push_back(rig.submit(requests.back()));
    }
    rig.run();
    EXPECT_EQ(model_.n_rows_computed(), 100u + 5 * 3);
    for (uint32_t i = 0; i < 5; ++i) {
        EXPECT_EQ(told_by(*channels[i]).ids, expected(requests[i]).ids) << i;
    }
}

TEST_F(StepLoopTest, computes_the_prompt_of_n_answers_once) {
    StepRig rig(model_, options());
    const std::vector<TokenId> prompt = tokens(100);
    for (uint32_t i = 0; i < 8; ++i) rig.submit(request_for(prompt, 4, i));
    rig.run();
    EXPECT_EQ(model_.n_rows_computed(), 100u + 8 * 3);
}

TEST_F(StepLoopTest, shares_a_prefix_with_a_request_that_still_computes_its_own_prompt) {
    StepRig rig(model_, options(16));
    const std::vector<TokenId> shared = tokens(40);
    const auto leader = rig.submit(request_for(joined(shared, tokens(400)), 1));
    const auto follower = rig.submit(request_for(joined(shared, tokens(1)), 1));
    StreamResult of_leader, of_follower;
    while (!of_follower.ended) {
        ASSERT_TRUE(rig.step());
        listen(*leader, of_leader);
        listen(*follower, of_follower);
    }
    EXPECT_FALSE(of_leader.ended);
    EXPECT_EQ(of_follower.summary.timings.n_cached_tokens, 40u);
    rig.run();
    EXPECT_EQ(model_.n_rows_computed(), 40u + 400 + 1);
}

TEST_F(StepLoopTest, lets_others_pass_a_request_that_waits_for_a_prefix) {
    StepRig rig(model_, options(16));
    const std::vector<TokenId> shared = tokens(200);
    rig.submit(request_for(shared, 1));
    rig.submit(request_for(shared, 1));
    const auto other = rig.submit(request_for(tokens(1), 2));
    StreamResult result;
    for (int i = 0; i < 2; ++i) rig.step();
    listen(*other, result);
    EXPECT_EQ(result.ids.size(), 2u);
}

// ---- fairness ----

TEST_F(StepLoopTest, gives_running_streams_a_token_every_step_while_a_long_prompt_is_computed) {
    StepRig rig(model_, options(16));
    std::vector<std::shared_ptr<StreamChannel>> streams;
    for (int i = 0; i < 4; ++i) streams.push_back(rig.submit(request_for(tokens(3), 60)));
    rig.step();
    const auto prompt = rig.submit(request_for(tokens(400), 1));
    for (size_t step = 0; step < 30; ++step) {
        for (const auto& stream : streams) {
            EXPECT_EQ(told_by(*stream).ids.size(), 1u) << "step " << step;
        }
        rig.step();
    }
    rig.run();
    EXPECT_EQ(told_by(*prompt).ids.size(), 1u);
}

TEST_F(StepLoopTest, runs_at_most_max_sequences_and_takes_the_rest_in_order) {
    EngineOptions o = options();
    o.max_sequences = 2;
    StepRig rig(model_, o);
    std::vector<std::shared_ptr<StreamChannel>> channels;
    for (int i = 0; i < 5; ++i) channels.push_back(rig.submit(request_for(tokens(4), 3)));
    std::vector<size_t> ended;
    std::vector<StreamResult> result(5);
    while (rig.step()) {
        EXPECT_LE(rig.step_loop().n_requests(), 2u);
        for (size_t i = 0; i < 5; ++i) {
            if (result[i].ended) continue;
            listen(*channels[i], result[i]);
            if (result[i].ended) ended.push_back(i);
        }
    }
    EXPECT_EQ(ended, (std::vector<size_t>{0, 1, 2, 3, 4}));
}

// ---- ends ----

TEST_F(StepLoopTest, ends_a_cancelled_request_in_the_next_step_wherever_it_is) {
    EngineOptions o = options(16);
    o.max_sequences = 2;
    StepRig rig(model_, o);
    const auto decoding = rig.submit(request_for(tokens(3), 100));
    const auto prefilling = rig.submit(request_for(tokens(300), 100));
    const auto queued = rig.submit(request_for(tokens(3), 100));
    const auto kept = rig.submit(request_for(tokens(3), 3));
    for (int i = 0; i < 3; ++i) rig.step();
    for (const auto& channel : {decoding, prefilling, queued}) channel->cancel();
    rig.step();
    for (const auto& channel : {decoding, prefilling, queued}) {
        const StreamResult result = told_by(*channel);
        EXPECT_TRUE(result.ended);
        EXPECT_EQ(result.summary.reason, FinishReason::cancelled);
    }
    rig.run();
    EXPECT_EQ(told_by(*kept).ids.size(), 3u);
}

TEST_F(StepLoopTest, keeps_what_a_cancelled_prompt_had_computed) {
    StepRig rig(model_, options(16));
    const std::vector<TokenId> prompt = tokens(300);
    const auto channel = rig.submit(request_for(prompt, 1));
    for (int i = 0; i < 4; ++i) rig.step();
    channel->cancel();
    rig.run();
    EXPECT_EQ(rig.ask(request_for(prompt, 1)).summary.timings.n_cached_tokens, 64u);
}

TEST_F(StepLoopTest, stops_at_an_end_token_without_emitting_it) {
    GenerateRequest request = request_for(tokens(20), 8);
    const Expected all = expected(request);
    request.max_new_tokens = 4;
    const Expected cut = expected(request);
    ASSERT_EQ(std::count(cut.ids.begin(), cut.ids.end(), all.ids[4]), 0);
    request.max_new_tokens = 8;
    StepRig rig(model_, options(), {.end_tokens = {all.ids[4]}});
    const StreamResult result = rig.ask(request);
    EXPECT_EQ(result.ids, cut.ids);
    EXPECT_EQ(result.summary.logits_sha256, cut.hash);
    EXPECT_EQ(result.summary.reason, FinishReason::stop);
    request.end_tokens = EndTokens::ignore;
    EXPECT_EQ(rig.ask(request).ids, all.ids);
}

TEST_F(StepLoopTest, computes_the_prompt_and_no_token_when_none_is_wanted) {
    StepRig rig(model_, options());
    const std::vector<TokenId> prompt = tokens(20);
    const StreamResult result = rig.ask(request_for(prompt, 0));
    EXPECT_TRUE(result.ids.empty());
    EXPECT_EQ(result.summary.reason, FinishReason::length);
    EXPECT_EQ(result.summary.timings.n_generated_tokens, 0u);
    EXPECT_EQ(rig.ask(request_for(prompt, 1)).summary.timings.n_cached_tokens, 20u);
}

TEST_F(StepLoopTest, ends_with_length_where_the_context_ends) {
    EngineOptions o = options();
    o.context = 50;
    StepRig rig(model_, o);
    const StreamResult result = rig.ask(request_for(tokens(40), UINT32_MAX));
    EXPECT_EQ(result.ids.size(), 10u);
    EXPECT_EQ(result.summary.reason, FinishReason::length);
    const StreamResult full = rig.ask(request_for(tokens(50), UINT32_MAX));
    EXPECT_EQ(full.ids.size(), 0u);
    EXPECT_EQ(full.summary.reason, FinishReason::length);
}

TEST_F(StepLoopTest, lets_one_sequence_use_every_block_there_is) {
    StepRig rig(model_, options(64, 8));
    const auto n_all = static_cast<uint32_t>(rig.settings().capacity());
    GenerateRequest request = request_for(tokens(20), n_all - 20);
    rig.ask(request_for(tokens(60), 9));  // something to evict
    rig.ask(request);
    const StreamResult warm = rig.ask(request);
    EXPECT_EQ(warm.ids, expected(request).ids);
}

TEST_F(StepLoopTest, lets_a_prompt_fill_the_cache_and_go_on_from_there) {
    StepRig rig(model_, options(64, 8));
    const auto n_all = static_cast<uint32_t>(rig.settings().capacity());
    const GenerateRequest request = request_for(tokens(n_all - 8), 6);
    EXPECT_EQ(rig.ask(request).ids, expected(request).ids);
}

TEST_F(StepLoopTest, finds_again_what_is_still_cached_of_a_preempted_sequence) {
    StepRig rig(model_, options(64, 8));
    rig.submit(request_for(tokens(40), 50));
    rig.submit(request_for(tokens(40), 50));
    rig.run();
    EXPECT_EQ(rig.step_loop().counts().n_preemptions, 1u);
    EXPECT_GE(rig.step_loop().counts().admission.n_hit_tokens, 32u);
    EXPECT_LE(model_.n_rows_computed(), 2u * (40 + 49) + 32);
}

// ---- what callers may see ----

TEST_F(StepLoopTest, tells_the_logprob_of_the_raw_distribution) {
    StepRig rig(model_, options());
    GenerateRequest request = request_for(tokens(20), 3);
    request.want_logprobs = true;
    const StreamResult result = rig.ask(request);
    std::vector<TokenId> so_far = request.prompt;
    for (size_t i = 0; i < 3; ++i) {
        const std::vector<float> row = model_.cold_logits(so_far);
        EXPECT_EQ(result.logprobs[i], static_cast<float>(log_softmax_at(row, result.ids[i])));
        so_far.push_back(result.ids[i]);
    }
}

// Its first token is picked from a row that was kept, without what a forward notes.
TEST_F(StepLoopTest, tells_the_same_logprobs_of_a_prompt_that_is_cached) {
    StepRig rig(model_, options());
    GenerateRequest request = request_for(tokens(20), 3);
    request.want_logprobs = true;
    request.sampling.top_p = 0.9f;
    const StreamResult cold = rig.ask(request);
    const uint64_t n_rows = rig.step_loop().counts().n_computed_tokens;
    const StreamResult warm = rig.ask(request);
    EXPECT_EQ(rig.step_loop().counts().n_computed_tokens, n_rows + 2) << "the prompt was cached";
    EXPECT_EQ(cold.ids, warm.ids);
    EXPECT_EQ(cold.logprobs, warm.logprobs);
}

TEST_F(StepLoopTest, shows_every_row_of_the_prompts_logits_once_in_order) {
    StepRig rig(model_, options(1, 8));
    const std::vector<TokenId> prompt = tokens(80);
    rig.ask(request_for(prompt, 2));  // cached, and computed again all the same
    uint32_t n_seen = 0;
    GenerateRequest request = request_for(prompt, 2);
    request.on_prompt_logits = [&](uint32_t position, std::span<const float> row) {
        EXPECT_EQ(position, n_seen++);
        const std::vector<float> cold = model_.cold_logits(std::span(prompt).first(n_seen));
        EXPECT_TRUE(std::equal(row.begin(), row.end(), cold.begin(), cold.end()));
    };
    rig.submit(request_for(tokens(3), 100));  // is older, and takes its blocks while it is computed
    const auto channel = rig.submit(request);
    rig.run();
    EXPECT_EQ(n_seen, 80u);
    EXPECT_EQ(told_by(*channel).ids, expected(request).ids);
    EXPECT_GT(rig.step_loop().counts().n_preemptions, 0u);
}

// ---- failures ----

// Fails a batch that holds a certain token.
class FragileModel final : public Model {
  public:
    FragileModel(const HashModel& model, TokenId poison) : model_(model), poison_(poison) {}
    const ModelSpec& spec() const override { return model_.spec(); }
    Result<std::unique_ptr<Scratch>> make_scratch(const ScratchLimits& limits,
                                                  ThreadPool& pool) const override {
        return model_.make_scratch(limits, pool);
    }
    Result<void> forward(const Batch& batch, const KvView& kv, Scratch& scratch,
                         std::span<float> logits) const override {
        for (const TokenId token : batch.tokens) {
            if (token == poison_) return fail(ErrorKind::failed, "layer 3: not a number");
        }
        return model_.forward(batch, kv, scratch, logits);
    }

  private:
    const HashModel& model_;
    TokenId poison_;
};

TEST_F(StepLoopTest, ends_only_the_sequence_whose_forward_fails) {
    const GenerateRequest healthy[2] = {request_for({1, 2, 3}, 6), request_for({6, 7}, 6)};
    const std::vector<TokenId> right[2] = {expected(healthy[0]).ids, expected(healthy[1]).ids};
    const std::vector<TokenId> used = joined(joined({1, 2, 3, 4, 5, 6, 7}, right[0]), right[1]);
    TokenId poison = 0;
    while (std::count(used.begin(), used.end(), poison)) ++poison;
    const FragileModel model(model_, poison);
    StepRig rig(model, options());
    const auto before = rig.submit(healthy[0]);
    const auto ill = rig.submit(request_for({4, 5, poison}, 6));
    const auto after = rig.submit(healthy[1]);
    rig.run();
    EXPECT_EQ(told_by(*before).ids, right[0]);
    EXPECT_EQ(told_by(*after).ids, right[1]);
    const StreamResult result = told_by(*ill);
    ASSERT_TRUE(result.error.has_value());
    EXPECT_EQ(result.error->message, "layer 3: not a number");
    EXPECT_EQ(rig.n_used_blocks(), 2u);  // the healthy ones'
}

}  // namespace
}  // namespace kvik
