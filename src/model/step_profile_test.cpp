#include "model/step_profile.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "testing/model_rig.h"

namespace kvik::testing {
namespace {

constexpr std::array kAllParts = {StepPart::start,  StepPart::embed,   StepPart::norm,
                                  StepPart::qkv,    StepPart::rope,    StepPart::attention,
                                  StepPart::output, StepPart::gate_up, StepPart::down,
                                  StepPart::head,   StepPart::waiting};
static_assert(kAllParts.size() == kStepParts);

}  // namespace

TEST(StepProfile, accounts_for_all_of_the_workers_time) {
    const TemporaryFile file(tiny_llama({}));
    for (const uint32_t n_threads : {1u, 3u}) {
        StepProfile profile(n_threads);
        RigOptions options;
        options.n_threads = n_threads;
        options.profile = &profile;
        Rig rig(file.path, options);
        rig.all(random_tokens(40, rig.model->spec().vocab_size, 7), 20);
        EXPECT_EQ(profile.n_steps(), 2u);
        uint64_t sum = 0;
        for (const StepPart part : kAllParts) sum += profile.ns(part);
        EXPECT_EQ(sum, profile.wall_ns() * n_threads);
        for (const StepPart part : {StepPart::embed, StepPart::qkv, StepPart::down, StepPart::head})
            EXPECT_GT(profile.ns(part, 0), 0u) << name_of(part);
        EXPECT_GT(profile.share_between(), 0.0);
        EXPECT_LT(profile.share_between(), 1.0);
    }
}

TEST(StepProfile, counts_the_barriers_of_a_worker_and_none_without_company) {
    const TemporaryFile file(tiny_llama({}));
    for (const uint32_t n_threads : {1u, 2u}) {
        StepProfile profile(n_threads);
        RigOptions options;
        options.n_threads = n_threads;
        options.profile = &profile;
        Rig rig(file.path, options);
        rig.all(random_tokens(2, rig.model->spec().vocab_size, 7), 1);
        const uint64_t of_two_steps = profile.n_barriers();
        EXPECT_EQ(of_two_steps > 0, n_threads > 1);
        rig.all(random_tokens(1, rig.model->spec().vocab_size, 7), 1);
        EXPECT_EQ(2 * profile.n_barriers(), 3 * of_two_steps);
    }
}

TEST(StepProfile, changes_no_bit) {
    const TemporaryFile file(tiny_llama({}));
    StepProfile profile(2);
    RigOptions plain, profiled;
    plain.n_threads = profiled.n_threads = 2;
    profiled.profile = &profile;
    Rig with(file.path, profiled), without(file.path, plain);
    const auto tokens = random_tokens(60, with.model->spec().vocab_size, 3);
    const std::vector<float> a = with.all(tokens, 30), b = without.all(tokens, 30);
    ASSERT_EQ(a.size(), b.size());
    EXPECT_EQ(0, std::memcmp(a.data(), b.data(), 4 * a.size()));
}

TEST(StepProfile, begins_again_when_it_is_cleared) {
    StepProfile profile(2);
    profile.begin_step();
    profile.end_step();
    EXPECT_EQ(profile.n_steps(), 1u);
    profile.clear();
    EXPECT_EQ(profile.n_steps(), 0u);
    EXPECT_EQ(profile.wall_ns(), 0u);
    EXPECT_EQ(profile.ns(StepPart::waiting), 0u);
}

TEST(StepProfile, names_every_part_differently) {
    std::set<std::string_view> names;
    for (const StepPart part : kAllParts) names.insert(name_of(part));
    EXPECT_EQ(names.size(), kStepParts);
}

TEST(StepProfile, measures_a_barrier_apart) {
    ThreadPool pool(2);
    EXPECT_GT(barrier_latency_ns(pool), 0.0);
}

}  // namespace kvik::testing
