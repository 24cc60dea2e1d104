#include "sched/scheduler.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "support/random_costs.h"

namespace kvik {
namespace {

constexpr uint32_t kBlock = 16;

StepBudget budget(uint32_t n_rows, uint32_t n_free_blocks) {
    return {.n_tokens = n_rows,
            .n_logits_rows = 64,
            .n_free_blocks = n_free_blocks,
            .block_tokens = kBlock};
}

SequenceView stream(uint32_t n_computed) {
    return {.n_tokens = n_computed + 1,
            .n_computed = n_computed,
            .n_logical_blocks = (n_computed + kBlock - 1) / kBlock};
}

SequenceView prompt(uint32_t n_tokens) {
    return {.n_tokens = n_tokens};
}

StepPlan plan_of(std::vector<SequenceView> sequences, const StepBudget& budget) {
    StepPlan plan;
    plan_step(sequences, budget, plan);
    return plan;
}

uint32_t rows_of(const StepPlan& plan, uint32_t sequence) {
    for (const PlannedTokens& rows : plan.tokens) {
        if (rows.sequence == sequence) return rows.n_tokens;
    }
    return 0;
}

TEST(Scheduler, gives_running_streams_their_row_before_an_older_prompt) {
    const StepPlan plan = plan_of({prompt(1000), stream(5), stream(9)}, budget(32, 100));
    ASSERT_EQ(plan.tokens.size(), 3u);
    EXPECT_EQ(plan.tokens[0].sequence, 1u);
    EXPECT_EQ(plan.tokens[1].sequence, 2u);
    EXPECT_EQ(rows_of(plan, 0), 30u);
    EXPECT_EQ(plan.n_prompt_tokens, 30u);
}

TEST(Scheduler, gives_a_prompt_a_row_however_many_streams_run) {
    const StepPlan plan = plan_of({stream(1), stream(2), stream(3), prompt(50)}, budget(2, 100));
    EXPECT_EQ(rows_of(plan, 3), 1u);
    for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(rows_of(plan, i), 1u);
}

TEST(Scheduler, fills_a_step_with_the_oldest_prompts_first) {
    const StepPlan plan = plan_of({prompt(10), prompt(10), prompt(10)}, budget(16, 100));
    EXPECT_EQ(rows_of(plan, 0), 10u);
    EXPECT_EQ(rows_of(plan, 1), 6u);
    EXPECT_EQ(rows_of(plan, 2), 0u);
}

TEST(Scheduler, wants_logits_only_where_a_sequence_comes_to_its_last_token) {
    const StepPlan plan = plan_of({prompt(10), prompt(10), stream(7)}, budget(16, 100));
    ASSERT_EQ(plan.tokens.size(), 3u);
    EXPECT_EQ(plan.tokens[0].n_logits_rows, 1u);  // the stream
    EXPECT_EQ(plan.tokens[1].n_logits_rows, 1u);  // the whole prompt
    EXPECT_EQ(plan.tokens[2].n_logits_rows, 0u);  // part of a prompt
}

TEST(Scheduler, cuts_a_scored_prompt_to_the_logits_rows_that_are_left) {
    SequenceView scored = prompt(100);
    scored.want_logits = WantLogits::of_every_token;
    StepBudget small = budget(512, 100);
    small.n_logits_rows = 8;
    const StepPlan plan = plan_of({scored, stream(3), scored}, small);
    EXPECT_EQ(rows_of(plan, 0), 6u);
    EXPECT_EQ(rows_of(plan, 1), 1u);
    EXPECT_EQ(rows_of(plan, 2), 1u);
    for (const PlannedTokens& rows : plan.tokens) EXPECT_EQ(rows.n_logits_rows, rows.n_tokens);
}

TEST(Scheduler, cuts_a_prompt_to_the_blocks_there_are_and_says_how_many_are_short) {
    const StepPlan plan = plan_of({prompt(100)}, budget(512, 3));
    EXPECT_EQ(rows_of(plan, 0), 3 * kBlock);
    EXPECT_EQ(plan.n_blocks_short, 4u);
    EXPECT_FALSE(plan.preempt.has_value());
}

TEST(Scheduler, counts_a_block_for_the_copy_of_a_shared_tail) {
    SequenceView shared = stream(5);
    shared.n_shared_tails = 1;
    EXPECT_EQ(blocks_wanted(shared, 1, budget(8, 0)), 1u);
    EXPECT_EQ(rows_of(plan_of({shared}, budget(8, 0)), 0), 0u);
    EXPECT_EQ(rows_of(plan_of({shared}, budget(8, 1)), 0), 1u);
    EXPECT_EQ(blocks_wanted(shared, 0, budget(8, 0)), 0u);
}

TEST(Scheduler, counts_a_block_of_every_group_at_a_place) {
    StepBudget r = budget(512, 11);
    r.n_groups = 3;
    EXPECT_EQ(blocks_wanted(prompt(100), 17, r), 6u);
    const StepPlan plan = plan_of({prompt(100)}, r);
    EXPECT_EQ(rows_of(plan, 0), 3 * kBlock) << "11 blocks are three places";
    EXPECT_EQ(plan.n_blocks_short, 7u * 3 - 11);
    SequenceView shared = stream(5);
    shared.n_shared_tails = 2;
    EXPECT_EQ(blocks_wanted(shared, 20, r), 2u + 3u);
}

TEST(Scheduler, takes_the_youngest_sequences_blocks_when_an_older_one_cannot_move) {
    const StepPlan plan = plan_of({stream(kBlock), stream(3), stream(4), prompt(8)}, budget(8, 0));
    EXPECT_EQ(rows_of(plan, 0), 0u);
    EXPECT_EQ(plan.starved, 0u);
    ASSERT_TRUE(plan.preempt.has_value());
    EXPECT_EQ(*plan.preempt, 2u);  // the prompt has no block to give
}

TEST(Scheduler, never_takes_an_older_sequences_blocks) {
    const StepPlan plan = plan_of({stream(3), stream(kBlock)}, budget(8, 0));
    EXPECT_EQ(rows_of(plan, 0), 1u);
    EXPECT_EQ(plan.n_blocks_short, 1u);
    EXPECT_EQ(plan.starved, 1u);
    EXPECT_FALSE(plan.preempt.has_value());
}

// `first` ms for one row and `more` for each further one, at any depth.
StepCosts flat(double first, double more) {
    StepCosts costs;
    for (auto& row : costs.step_ms)
        for (size_t r = 0; r < row.size(); ++r) row[r] = first + more * (StepCosts::kTokens[r] - 1);
    for (size_t i = 0; i < costs.chunk_ms.size(); ++i)
        costs.chunk_ms[i] = first + more * (StepCosts::kChunks[i] - 1);
    return costs;
}

TEST(Scheduler, cuts_a_prompt_beside_streams_to_a_step_in_time) {
    const StepCosts costs = flat(4, 0.5);
    StepBudget r = budget(512, 100);
    r.costs = &costs;
    const StepPlan plan = plan_of({prompt(1000), stream(5), stream(9)}, r);
    EXPECT_EQ(rows_of(plan, 0), 191u);  // 4.5 ms of streams and 95.5 of the prompt
}

TEST(Scheduler, counts_the_depth_of_streams_and_prompts_into_a_step) {
    StepCosts costs = flat(4, 0.5);
    for (size_t d = 0; d < StepCosts::kDepths.size(); ++d)
        for (size_t i = 0; i < StepCosts::kTokens.size(); ++i)
            costs.step_ms[d][i] += StepCosts::kDepths[d] / 1024.0 * StepCosts::kTokens[i];
    StepBudget r = budget(512, 1000);
    r.costs = &costs;
    const uint32_t shallow = rows_of(plan_of({prompt(4000), stream(9)}, r), 0);
    const uint32_t beside_deep = rows_of(plan_of({prompt(4000), stream(4096)}, r), 0);
    SequenceView deep = prompt(4000);
    deep.n_computed = 3000;
    deep.n_logical_blocks = (3000 + kBlock - 1) / kBlock;
    const uint32_t deep_beside = rows_of(plan_of({deep, stream(9)}, r), 0);
    EXPECT_LT(beside_deep, shallow);
    EXPECT_LT(deep_beside, shallow / 2);
}

TEST(Scheduler, gives_a_prompt_as_much_time_as_slow_streams_take) {
    const StepCosts costs = flat(200, 10);
    StepBudget r = budget(512, 100);
    r.costs = &costs;
    EXPECT_EQ(rows_of(plan_of({stream(5), prompt(1000)}, r), 1), 20u);
    const StepCosts steep = flat(200, 300);
    r.costs = &steep;
    EXPECT_EQ(rows_of(plan_of({stream(5), prompt(1000), prompt(1000)}, r), 1), 1u);
    EXPECT_EQ(rows_of(plan_of({stream(5), prompt(1000), prompt(1000)}, r), 2), 0u);
}

TEST(Scheduler, cuts_no_prompt_for_time_where_no_stream_waits) {
    const StepCosts costs = flat(400, 100);
    StepBudget r = budget(512, 100);
    r.costs = &costs;
    const StepPlan plan = plan_of({prompt(300), prompt(300)}, r);
    EXPECT_EQ(rows_of(plan, 0), 300u);
    EXPECT_EQ(rows_of(plan, 1), 212u);
}

// Random sequences and rooms: a plan fits its budget, and the oldest sequence gets a row, or blocks
// are short and either nobody younger holds any or one of them is named.
TEST(Scheduler, plans_fit_their_room_and_the_oldest_moves) {
    std::mt19937 generator(11);
    auto rng = [&] { return static_cast<uint32_t>(generator()); };
    for (int round = 0; round < 3000; ++round) {
        SCOPED_TRACE(::testing::Message() << "seed 11, round " << round);
        std::vector<SequenceView> all(1 + rng() % 8);
        bool younger_holds = false;
        for (size_t i = 0; i < all.size(); ++i) {
            const uint32_t n_computed = rng() % 3 == 0 ? 0 : rng() % 70;
            all[i] = stream(n_computed);
            all[i].n_tokens += rng() % 2 ? rng() % 90 : 0;
            all[i].n_shared_tails = n_computed % kBlock != 0 && rng() % 4 == 0;
            all[i].want_logits = rng() % 5 ? WantLogits::of_last_token : WantLogits::of_every_token;
            younger_holds |= i > 0 && all[i].n_logical_blocks > 0;
        }
        StepBudget r = budget(1 + rng() % 64, rng() % 7);
        r.n_groups = 1 + rng() % 3;
        r.n_logits_rows = 8 + rng() % 8;
        const StepCosts costs = random_costs(rng);
        if (rng() % 2) r.costs = &costs;
        const StepPlan plan = plan_of(all, r);

        uint32_t n_rows = 0, n_logits_rows = 0, n_blocks = 0;
        for (const PlannedTokens& rows : plan.tokens) {
            EXPECT_GT(rows.n_tokens, 0u);
            EXPECT_LE(rows.n_tokens, all[rows.sequence].n_pending());
            n_rows += rows.n_tokens;
            n_logits_rows += rows.n_logits_rows;
            n_blocks += blocks_wanted(all[rows.sequence], rows.n_tokens, r);
        }
        EXPECT_LE(n_rows, max_batch_tokens(r.n_tokens, 8));
        EXPECT_LE(n_logits_rows, r.n_logits_rows);
        EXPECT_LE(n_blocks, r.n_free_blocks);
        if (rows_of(plan, 0) == 0) {
            EXPECT_TRUE(plan.n_blocks_short > 0 || all[0].n_pending() > 1);
            if (all[0].n_pending() == 1) {
                EXPECT_EQ(plan.preempt.has_value(), younger_holds);
            }
        }
    }
}

}  // namespace
}  // namespace kvik
