#include "engine/costs/calibrate.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "engine/costs/calibrate.h"
#include "support/random_costs.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

constexpr CalibrationLimits kNoLimits = {.n_tokens = 512, .n_logits_rows = 64, .n_depth = 8192};

// ---- the table that points make ----

TEST(MeasuredSteps, that_are_all_lawful_stay_as_they_are) {
    std::mt19937 random(1);
    for (int round = 0; round < 100; ++round) {
        const StepCosts costs = random_costs(random);
        MeasuredSteps measured;
        for (size_t d = 0; d < StepCosts::kDepths.size(); ++d)
            for (size_t r = 0; r < StepCosts::kTokens.size(); ++r)
                measured.set_step(r, d, costs.step_ms[d][r]);
        const StepCosts made = measured.complete();
        for (size_t d = 0; d < StepCosts::kDepths.size(); ++d)
            for (size_t r = 0; r < StepCosts::kTokens.size(); ++r)
                ASSERT_NEAR(made.step_ms[d][r], costs.step_ms[d][r], 1e-9);
    }
}

TEST(MeasuredSteps, make_a_lawful_table_whatever_was_measured) {
    std::mt19937 random(2);
    for (int round = 0; round < 3000; ++round) {
        MeasuredSteps measured;
        const auto any_ms = [&] { return static_cast<uint32_t>(random()) % 1000 / 7.0; };
        measured.set_step(0, 0, any_ms());
        for (size_t d = 0; d < StepCosts::kDepths.size(); ++d)
            for (size_t r = 0; r < StepCosts::kTokens.size(); ++r)
                if (random() % 2) measured.set_step(r, d, any_ms());
        for (size_t c = 1; c < StepCosts::kChunks.size(); ++c)
            if (random() % 2) measured.set_chunk(c, any_ms());
        ASSERT_TRUE(measured.complete().is_lawful()) << "seed 2, round " << round;
    }
}

TEST(MeasuredSteps, that_were_disturbed_are_cut_to_those_of_more_rows) {
    MeasuredSteps measured;
    measured.set_step(0, 0, 2);
    measured.set_step(1, 0, 50);  // another program was in the way
    measured.set_step(2, 0, 3);
    EXPECT_EQ(measured.complete().ms(2, 0), 3);
}

TEST(MeasuredSteps, fill_in_what_was_not_measured) {
    MeasuredSteps measured;
    measured.set_step(0, 0, 2);
    EXPECT_EQ(measured.complete().ms(8, 0), 9);  // 1, and 1 for each row
    measured.set_step(2, 0, 3.5);
    EXPECT_NEAR(measured.complete().ms(2, 0), 2.5, 1e-12);
    EXPECT_NEAR(measured.complete().ms(16, 0), 9.5, 1e-12);
    EXPECT_EQ(measured.complete().ms(1, 8192), 2);  // nothing is known of depth
    measured.set_step(0, 1, 3);
    EXPECT_NEAR(measured.complete().ms(1, 8192), 6, 1e-12);
    EXPECT_NEAR(measured.complete().ms(4, 2048), 3.5 + 2.5, 1e-12);
    EXPECT_NEAR(measured.complete().prompt_ms(64), measured.complete().ms(64, 0), 1e-12);
    measured.set_chunk(2, 20);
    EXPECT_EQ(measured.complete().prompt_ms(64), 20);
}

// ---- what is measured, and for how long ----

// A machine whose steps take what a table says, on a clock that nothing else moves.
struct FakeMachine {
    double first_ms, row_ms, depth_ms;  // of a step; of each row; of 1000 positions for each row
    double now_ms = 1000;
    int n_steps = 0;
    double longest_ms = 0;

    double ms_of(const StepPoint& p) const {
        return first_ms + row_ms * p.n_tokens + depth_ms * p.depth / 1000 * p.n_tokens;
    }
    std::optional<StepCosts> calibrate(const CalibrationLimits& limits) {
        return kvik::calibrate(
            limits,
            [this](const StepPoint& point) -> std::optional<double> {
                ++n_steps;
                const double ms = ms_of(point);
                longest_ms = std::max(longest_ms, ms);
                now_ms += ms;
                return ms;
            },
            [this] { return now_ms; });
    }
};

TEST(Calibrate, measures_every_point_of_a_small_model) {
    FakeMachine machine{.first_ms = 0.1, .row_ms = 0.05, .depth_ms = 0.01};
    const StepCosts costs = *machine.calibrate(kNoLimits);
    for (const uint32_t depth : StepCosts::kDepths)
        for (const uint32_t n : StepCosts::kTokens)
            EXPECT_NEAR(costs.ms(n, depth), machine.ms_of({n, depth, n}), 1e-9)
                << n << " rows at " << depth;
    EXPECT_NEAR(costs.prompt_ms(64), machine.ms_of({64, 0, 1}), 1e-9);
}

TEST(Calibrate, keeps_its_budget_but_for_one_step) {
    for (const double first_ms : {0.01, 0.5, 2.0, 5.0, 16.0, 80.0, 1000.0}) {
        FakeMachine machine{
            .first_ms = first_ms, .row_ms = first_ms / 8, .depth_ms = first_ms / 16};
        ASSERT_TRUE(machine.calibrate(kNoLimits));
        const double budget_ms = std::max(kBudgetMs, kBudgetSteps * machine.ms_of({1, 0, 1}));
        EXPECT_LE(machine.now_ms - 1000, budget_ms + machine.longest_ms) << first_ms;
        EXPECT_GE(machine.n_steps, 3) << first_ms;
    }
}

TEST(Calibrate, measures_less_of_a_larger_model_and_fills_in_the_rest) {
    FakeMachine small{.first_ms = 0.2, .row_ms = 0.1, .depth_ms = 0.01};
    FakeMachine large{.first_ms = 80, .row_ms = 15, .depth_ms = 2};
    ASSERT_TRUE(small.calibrate(kNoLimits));
    const StepCosts costs = *large.calibrate(kNoLimits);
    EXPECT_LT(large.n_steps, small.n_steps);
    EXPECT_NEAR(costs.ms(16, 0), large.ms_of({16, 0, 16}), 1e-9);
    EXPECT_NEAR(costs.ms(1, 8192), large.ms_of({1, 8192, 1}), 1e-9);
}

TEST(Calibrate, asks_for_no_step_beyond_its_limits) {
    for (const CalibrationLimits limits :
         {CalibrationLimits{1, 1, 0}, CalibrationLimits{4, 2, 300}, CalibrationLimits{16, 16, 1000},
          CalibrationLimits{512, 8, 5000}}) {
        std::map<uint32_t, int> depths;
        double now_ms = 0;
        const auto costs = calibrate(
            limits,
            [&](const StepPoint& point) -> std::optional<double> {
                EXPECT_LE(point.n_tokens, limits.n_tokens);
                EXPECT_LE(point.n_logits_rows, limits.n_logits_rows);
                EXPECT_LE(point.n_logits_rows, point.n_tokens);
                EXPECT_LE(point.depth, limits.n_depth);
                ++depths[point.depth];
                now_ms += 0.01;
                return 0.01 * point.n_tokens + 1e-6 * point.depth;
            },
            [&] { return now_ms; });
        ASSERT_TRUE(costs);
        EXPECT_NEAR(costs->ms(1, 2048), limits.n_depth > 0 ? 0.01 + 2048e-6 : 0.01, 1e-9);
        EXPECT_EQ(depths.size(), limits.n_depth == 0 ? 1u : limits.n_depth < 4096 ? 2u : 3u);
    }
}

TEST(Calibrate, makes_no_table_when_a_step_does_not_come_back) {
    for (int n_good = 0; n_good < 12; ++n_good) {
        int n = 0;
        EXPECT_FALSE(calibrate(
            kNoLimits,
            [&](const StepPoint&) { return n++ < n_good ? std::optional(0.1) : std::nullopt; },
            [] { return 0.0; }));
        EXPECT_EQ(n, n_good + 1);  // and asks for no other
    }
}

// ---- steps of a model ----

class Timer : public ::testing::Test {
  protected:
    std::optional<StepTimer> open(uint32_t context, uint64_t cache_bytes) {
        limits_ = {.n_rows = 64, .n_logits_rows = 16, .context_length = context};
        scratch_ = *model_.make_scratch(limits_, pool_);
        logits_.resize(16 * 101);
        KvSpec kv = model_.spec().kv;
        kv.block_tokens = 16;
        return StepTimer::open({.model = model_,
                                .pool = pool_,
                                .scratch = *scratch_,
                                .limits = limits_,
                                .logits = logits_,
                                .kv = kv,
                                .cache_bytes = cache_bytes,
                                .now_ms = [this] { return now_ms_ += 1; },
                                .must_stop = [this] { return stop_; }});
    }

    HashModel model_;
    ThreadPool pool_{2};
    ScratchLimits limits_;
    std::unique_ptr<Scratch> scratch_;
    std::vector<float> logits_;
    double now_ms_ = 0;
    bool stop_ = false;
};

TEST_F(Timer, runs_every_point_of_a_calibration_on_a_model) {
    auto timer = open(4096, 1 << 30);
    ASSERT_TRUE(timer);
    EXPECT_EQ(timer->limits().n_depth, 4096u - 64);
    const auto costs = calibrate(
        timer->limits(), [&](const StepPoint& point) { return timer->time(point); },
        [] { return 0.0; });
    ASSERT_TRUE(costs);
    EXPECT_EQ(costs->ms(16, 0), 1);  // a tick of the clock for every step
    EXPECT_GT(model_.n_forwards(), 16u);
}

TEST_F(Timer, goes_no_deeper_than_context_and_memory_allow) {
    EXPECT_EQ(open(40, 1 << 30)->limits().n_depth, 0u);
    EXPECT_EQ(open(40, 1 << 30)->limits().n_tokens, 40u);
    EXPECT_EQ(open(1000, 1 << 30)->limits().n_depth, 1000u - 64);
    const uint64_t block_bytes = 16 * model_.spec().kv.bytes_per_token();
    EXPECT_EQ(open(4096, 100 * block_bytes)->limits().n_depth, 1600u - 64);
}

TEST_F(Timer, stops_when_somebody_waits) {
    auto timer = open(4096, 1 << 30);
    stop_ = true;
    EXPECT_FALSE(timer->time({}));
    EXPECT_EQ(model_.n_forwards(), 0u);
}

}  // namespace
}  // namespace kvik
