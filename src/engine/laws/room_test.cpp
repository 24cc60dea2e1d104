// What is held and who holds it: prompts that many share, requests that end at any moment, blocks
// that two computed.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/cold_logits.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

class Room : public ::testing::Test {
  protected:
    EngineOptions options(uint32_t block_tokens = 32, uint32_t n_blocks = 400) const {
        return options_of(model_.spec().kv, 64, block_tokens, n_blocks);
    }
    std::vector<TokenId> tokens(uint32_t n) { return random_tokens(random_, n); }
    void expect_told_cold(StreamChannel& channel, const GenerateRequest& request) const {
        StreamResult result;
        listen(channel, result);
        EXPECT_TRUE(result.ended);
        expect_cold(model_, result, request);
    }

    HashModel model_;
    Random random_{1};
};

// Each session has whole blocks of its own from the block on in which it leaves the others.
TEST_F(Room, sessions_over_one_system_prompt_hold_it_once) {
    constexpr uint32_t kSessions = 100, kShared = 1000, kPrivate = 400, kBlock = 32;
    constexpr uint32_t kSharedBlocks = kShared / kBlock;
    constexpr uint32_t kPrivateTokens = kShared % kBlock + kPrivate;
    constexpr uint32_t kTails = kSessions * ((kPrivateTokens + kBlock - 1) / kBlock);
    const std::vector<TokenId> system = tokens(kShared);
    StepRig rig(model_, options(kBlock, kSharedBlocks + kTails + 50));
    std::vector<GenerateRequest> requests;
    std::vector<std::shared_ptr<StreamChannel>> channels;
    for (uint32_t i = 0; i < kSessions; ++i) {
        std::vector<TokenId> own = tokens(kPrivate);
        own[0] = static_cast<TokenId>(i);  // no two of them go on alike by chance
        requests.push_back(request_for(joined(system, own), 1, i));
        channels.push_back(rig.submit(requests.back()));
    }
    rig.run();
    EXPECT_EQ(model_.n_rows_computed(), kShared + kSessions * kPrivate);
    EXPECT_EQ(rig.n_used_blocks(), kSharedBlocks + kTails);
    const uint64_t n_logical_blocks = uint64_t{kSharedBlocks + kTails} * kBlock;
    const uint64_t n_held = kSharedBlocks * kBlock + kSessions * kPrivateTokens;
    const double waste = 100.0 * static_cast<double>(n_logical_blocks - n_held) /
                         static_cast<double>(n_logical_blocks);
    fmt::print("{} sessions over {} tokens, {} of their own: {} blocks, internal waste {:.2f} %\n",
               kSessions, kShared, kPrivate, rig.n_used_blocks(), waste);
    EXPECT_LT(waste, 4.0);
    for (uint32_t i = 0; i < kSessions; i += 9) expect_told_cold(*channels[i], requests[i]);
}

TEST_F(Room, an_abort_at_any_step_leaves_no_block_and_publishes_nothing_unfinished) {
    for (const CachePolicy cache : {CachePolicy::reuse, CachePolicy::off}) {
        GenerateRequest request = request_for(tokens(150), 20);
        request.cache = cache;
        const Expected right = oracle(model_, request);
        for (uint32_t n_steps = 0; n_steps < 20; ++n_steps) {
            SCOPED_TRACE(::testing::Message() << "aborted after " << n_steps << " steps");
            EngineOptions o = options(16, 40);
            o.ubatch = 16;
            StepRig rig(model_, o);
            const auto other = rig.submit(request_for(tokens(5), 30));
            const auto aborted = rig.submit(request);
            for (uint32_t i = 0; i < n_steps; ++i) rig.step();
            const uint64_t n_rows = rig.step_loop().counts().n_computed_tokens;
            aborted->cancel();
            rig.step();
            StreamResult result;
            listen(*aborted, result);
            ASSERT_TRUE(result.ended);
            EXPECT_EQ(result.summary.reason, FinishReason::cancelled);
            rig.run();
            const CacheStats stats = rig.step_loop().cache_stats();
            EXPECT_LE(stats.n_cached_tokens, n_rows + 35);
            if (cache == CachePolicy::off) {
                EXPECT_LE(rig.n_used_blocks(), 3u) << "the other's";
            }
            const StreamResult again = rig.ask(request);
            expect_same(again, right);
            EXPECT_LE(again.summary.timings.n_cached_tokens, n_rows);
        }
    }
}

// The second computes its prompt from the start, though the first has it: the tree keeps the
// first's blocks, and those of the second go while it still decodes over them.
TEST_F(Room, what_was_computed_twice_is_held_once_while_both_go_on) {
    StepRig rig(model_, options(16, 100));
    const std::vector<TokenId> prompt = tokens(100);
    const GenerateRequest first = request_for(prompt, 40, 1);
    GenerateRequest second = request_for(prompt, 40, 2);
    second.on_prompt_logits = [](uint32_t, std::span<const float>) {};
    const auto one = rig.submit(first);
    for (int i = 0; i < 5; ++i) rig.step();
    const auto two = rig.submit(second);
    for (int i = 0; i < 5; ++i) rig.step();
    // Six whole blocks that both share, two tails and what the tree keeps of the prompt's end.
    EXPECT_LE(rig.n_used_blocks(), 6u + 2 * 1 + 1);
    rig.run();
    expect_told_cold(*one, first);
    expect_told_cold(*two, second);
    const GenerateRequest third = request_for(prompt, 40, 1);
    expect_cold(model_, rig.ask(third), third);
}

// Titles and summaries: some between two turns, never asked again.
TEST_F(Room, side_calls_push_out_each_other_and_not_the_long_conversation) {
    for (const EvictionPolicy policy :
         {EvictionPolicy::cost, EvictionPolicy::lru, EvictionPolicy::lfu}) {
        SCOPED_TRACE(eviction_name(policy));
        EngineOptions o = options(32, 120);
        o.evict = policy;
        StepRig rig(model_, o);
        std::vector<TokenId> conversation = tokens(1500);
        for (uint32_t turn = 0; turn < 20; ++turn) {
            const auto n_known = static_cast<uint32_t>(conversation.size()) - 1;
            conversation = joined(conversation, tokens(40));
            const GenerateRequest next = request_for(conversation, 5, turn);
            const StreamResult result = rig.ask(next);
            // A tail of few tokens is worth little: at most it has gone.
            if (turn > 0) {
                EXPECT_GE(result.summary.timings.n_cached_tokens, n_known - n_known % 32) << turn;
            }
            conversation = joined(conversation, result.ids);
            const uint32_t n_used = rig.n_used_blocks();
            for (uint32_t i = 0; i < 5; ++i) rig.ask(request_for(tokens(90), 6, i));
            EXPECT_LE(rig.n_used_blocks(), n_used + 5 * 3) << "their own blocks and no more";
        }
        EXPECT_GT(rig.step_loop().cache_stats().n_evicted_blocks, 100u);
    }
}

// Under the policy that it would be the first to go by.
TEST_F(Room, a_pinned_prompt_outlives_all_others_for_its_time) {
    EngineOptions o = options(32, 20);
    o.evict = EvictionPolicy::fifo;
    StepRig rig(model_, o);
    GenerateRequest pinned = request_for(tokens(150), 1);
    pinned.pin_ms = 1e9;
    rig.ask(pinned);
    for (uint32_t i = 0; i < 20; ++i) rig.ask(request_for(tokens(150), 1, i));
    const StreamResult result = rig.ask(pinned);
    expect_cold(model_, result, pinned);
    EXPECT_EQ(result.summary.timings.n_cached_tokens, 150u);
    EXPECT_GT(rig.step_loop().cache_stats().n_evicted_blocks, 50u);
}

}  // namespace
}  // namespace kvik
