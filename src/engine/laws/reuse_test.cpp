// What is found again, and that nothing else is: the cases in which caches in the field miss what
// they have, or answer with what they should not.
#include <gtest/gtest.h>

#include <set>

#include "support/cold_logits.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

class Reuse : public ::testing::Test {
  protected:
    EngineOptions options(uint32_t block_tokens = 32, uint32_t n_blocks = 400) const {
        return options_of(model_.spec().kv, 64, block_tokens, n_blocks);
    }
    std::vector<TokenId> tokens(uint32_t n) { return random_tokens(random_, n); }
    TokenId other_than(TokenId token) const {
        return static_cast<TokenId>((token + 1) % static_cast<TokenId>(model_.spec().vocab_size));
    }
    // Asks, and holds the answer against the oracle's.
    StreamResult ask(StepRig& rig, const GenerateRequest& request) const {
        StreamResult result = rig.ask(request);
        expect_cold(model_, result, request);
        return result;
    }
    uint64_t n_rows() const { return model_.n_rows_computed(); }

    HashModel model_;
    Random random_{1};
};

TEST_F(Reuse, an_identical_prompt_costs_no_forward_pass) {
    for (const uint32_t n : {1u, 2u, 31u, 32u, 33u, 64u, 200u}) {
        SCOPED_TRACE(::testing::Message() << "prompt of " << n);
        StepRig rig(model_, options());
        const GenerateRequest request = request_for(tokens(n), 1);
        ask(rig, request);
        ask(rig, request_for(tokens(50), 1));
        const uint64_t n_forwards = model_.n_forwards();
        EXPECT_EQ(ask(rig, request).summary.timings.n_cached_tokens, n);
        EXPECT_EQ(model_.n_forwards(), n_forwards);
        ask(rig, request_for(request.prompt, 5));
        EXPECT_EQ(model_.n_forwards(), n_forwards + 4);
    }
}

TEST_F(Reuse, the_first_answer_after_a_start_is_that_of_every_later_one) {
    StepRig rig(model_, options());
    GenerateRequest request = request_for(tokens(75), 12);
    request.sampling.temperature = 0;
    const StreamResult first = ask(rig, request);
    EXPECT_EQ(first.summary.timings.n_cached_tokens, 0u);
    for (uint32_t i = 1; i < 5; ++i) {
        const StreamResult later = ask(rig, request);
        EXPECT_EQ(later.ids, first.ids);
        EXPECT_EQ(later.summary.timings.n_cached_tokens, 75u) << "a hit, or the law says nothing";
        EXPECT_EQ(rig.step_loop().cache_stats().n_hit_tokens, 75u * i);
    }
}

TEST_F(Reuse, a_prefix_of_any_length_is_found_whatever_the_size_of_a_block) {
    for (const uint32_t block_tokens : {16u, 32u, 64u}) {
        StepRig rig(model_, options(block_tokens));
        const std::vector<TokenId> known = tokens(2 * block_tokens + 10);
        ask(rig, request_for(known, 1));
        for (uint32_t n = 1; n < known.size(); n += n % block_tokens < 3 ? 1 : 5) {
            SCOPED_TRACE(::testing::Message() << n << " tokens, block " << block_tokens);
            std::vector<TokenId> prompt(known.begin(), known.begin() + n);
            prompt.push_back(other_than(known[n]));
            EXPECT_EQ(ask(rig, request_for(prompt, 2)).summary.timings.n_cached_tokens, n);
        }
    }
}

// A stranger's conversation that is the same from some token on, or up to one.
TEST_F(Reuse, one_other_token_ends_what_is_shared_where_it_stands) {
    StepRig rig(model_, options());
    const std::vector<TokenId> known = tokens(100);
    ask(rig, request_for(known, 1));
    for (uint32_t at = 0; at < 100; ++at) {
        SCOPED_TRACE(::testing::Message() << "another token at " << at);
        std::vector<TokenId> prompt = known;
        prompt[at] = other_than(prompt[at]);
        const uint64_t n_before = n_rows();
        EXPECT_EQ(ask(rig, request_for(prompt, 1)).summary.timings.n_cached_tokens, at);
        EXPECT_EQ(n_rows() - n_before, 100u - at);
    }
}

// Left out of a prompt, some tokens before the end of a block make what follows it follow at once:
// the same tokens, at other positions.
TEST_F(Reuse, what_follows_a_block_is_not_found_after_a_part_of_it) {
    StepRig rig(model_, options(16));
    const std::vector<TokenId> known = tokens(80);
    ask(rig, request_for(known, 1));
    for (uint32_t n_left_out = 1; n_left_out < 16; ++n_left_out) {
        SCOPED_TRACE(::testing::Message() << n_left_out << " tokens left out");
        std::vector<TokenId> prompt = known;
        prompt.erase(prompt.begin() + 32 - n_left_out, prompt.begin() + 32);
        const uint32_t n_common = common_prefix(known, prompt);
        EXPECT_EQ(ask(rig, request_for(prompt, 1)).summary.timings.n_cached_tokens, n_common);
    }
}

// Branches that part at different places: each place of their tree is computed once.
TEST_F(Reuse, branches_that_arrive_together_compute_each_token_once) {
    StepRig rig(model_, options(16));
    const std::vector<TokenId> trunk = tokens(300);
    std::vector<GenerateRequest> requests;
    std::vector<std::shared_ptr<StreamChannel>> channels;
    std::set<std::vector<TokenId>> prefixes;
    for (uint32_t i = 0; i < 8; ++i) {
        const std::vector<TokenId> shared(trunk.begin(), trunk.begin() + 100 + 25 * (i / 2));
        requests.push_back(request_for(joined(shared, tokens(20)), 1, i));
        const std::vector<TokenId>& prompt = requests.back().prompt;
        for (size_t n = 1; n <= prompt.size(); ++n)
            prefixes.insert({prompt.begin(), prompt.begin() + static_cast<std::ptrdiff_t>(n)});
        channels.push_back(rig.submit(requests.back()));
    }
    rig.run();
    EXPECT_EQ(n_rows(), prefixes.size());
    for (uint32_t i = 0; i < 8; ++i) {
        StreamResult result;
        listen(*channels[i], result);
        expect_cold(model_, result, requests[i]);
    }
}

TEST_F(Reuse, every_session_is_remembered_however_few_run_at_once) {
    EngineOptions o = options();
    o.max_sequences = 1;
    StepRig rig(model_, o);
    std::vector<std::vector<TokenId>> sessions;
    std::vector<std::shared_ptr<StreamChannel>> channels;
    for (uint32_t i = 0; i < 40; ++i) {
        sessions.push_back(tokens(50 + i));
        channels.push_back(rig.submit(request_for(sessions.back(), 5)));
    }
    rig.run();
    for (uint32_t i = 0; i < 40; ++i) {
        StreamResult first;
        listen(*channels[i], first);
        const auto n_known = static_cast<uint32_t>(sessions[i].size()) + 4;
        const std::vector<TokenId> next = joined(joined(sessions[i], first.ids), tokens(7));
        EXPECT_EQ(ask(rig, request_for(next, 3)).summary.timings.n_cached_tokens, n_known);
    }
}

TEST_F(Reuse, what_is_reported_as_cached_is_what_was_not_computed) {
    StepRig rig(model_, options(16, 14));  // and some of it is evicted again
    std::vector<std::vector<TokenId>> prompts = {tokens(60)};
    uint64_t n_hits = 0;
    for (uint32_t i = 0; i < 200; ++i) {
        std::vector<TokenId> prompt = prompts[random_.below(static_cast<uint32_t>(prompts.size()))];
        prompt.resize(1 + random_.below(60));
        prompt = joined(prompt, tokens(random_.below(20)));
        const uint64_t n_before = n_rows();
        const uint32_t n_new = 1 + random_.below(4);
        const Timings timings = ask(rig, request_for(prompt, n_new, i)).summary.timings;
        EXPECT_EQ(n_rows() - n_before, prompt.size() - timings.n_cached_tokens + n_new - 1);
        n_hits += timings.n_cached_tokens;
        prompt.resize(60, 5);
        prompts.push_back(prompt);
    }
    EXPECT_EQ(rig.step_loop().cache_stats().n_hit_tokens, n_hits);
    EXPECT_GT(n_hits, 1000u);
    EXPECT_GT(rig.step_loop().cache_stats().n_evicted_blocks, 50u);
}

TEST_F(Reuse, an_edit_computes_from_the_first_token_that_differs) {
    StepRig rig(model_, options());
    std::vector<TokenId> conversation = tokens(300);
    ask(rig, request_for(conversation, 1));
    for (const uint32_t at : {250u, 129u, 128u, 127u, 40u, 3u}) {
        SCOPED_TRACE(::testing::Message() << "edited at " << at);
        // Another text of another length; what followed it stays.
        std::vector<TokenId> edited(conversation.begin(), conversation.begin() + at);
        edited.push_back(other_than(conversation[at]));
        edited = joined(edited, tokens(at % 7));
        edited.insert(edited.end(), conversation.begin() + at + 1, conversation.end());
        const uint64_t n_before = n_rows();
        EXPECT_EQ(ask(rig, request_for(edited, 1)).summary.timings.n_cached_tokens, at);
        EXPECT_EQ(n_rows() - n_before, edited.size() - at);
    }
}

TEST_F(Reuse, a_prompt_may_be_one_token_or_a_whole_cached_path) {
    for (const uint32_t block_tokens : {16u, 32u, 64u}) {
        StepRig rig(model_, options(block_tokens));
        const GenerateRequest one = request_for(tokens(1), 3);
        ask(rig, one);
        EXPECT_EQ(ask(rig, one).summary.timings.n_cached_tokens, 1u);
        // Prompt and answer are one path, but for the answer's last token, that has no KV.
        const std::vector<TokenId> prompt = tokens(block_tokens);
        const StreamResult result = ask(rig, request_for(prompt, block_tokens + 1));
        std::vector<TokenId> path = joined(prompt, result.ids);
        path.pop_back();
        ask(rig, request_for(path, 3));
        EXPECT_EQ(ask(rig, request_for(path, 3)).summary.timings.n_cached_tokens, 2 * block_tokens);
    }
}

TEST_F(Reuse, a_prompt_of_no_token_is_refused_in_words) {
    auto engine = *Engine::over(std::make_unique<HashModel>(), options());
    const auto refused = engine->submit(request_for({}, 3));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().kind, ErrorKind::usage);
    EXPECT_EQ(refused.error().message, "the prompt is empty: give at least one token");
}

}  // namespace
}  // namespace kvik
