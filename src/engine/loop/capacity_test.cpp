// The longest sequence that the settings promise room for gets through, alone and beside another.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/cold_logits.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

constexpr uint32_t kNew = 20;

// Layers of several depths; a budget of a few blocks.
struct Capacity : ::testing::TestWithParam<std::vector<uint32_t>> {
    HashModel model{{.n_layers = 4, .windows = GetParam()}};

    GenerateRequest longest(const EngineSettings& settings, uint32_t seed) const {
        Random random(seed);
        const auto n_all = static_cast<uint32_t>(std::min<uint64_t>(settings.capacity(), 1500));
        return request_for(random_tokens(random, n_all - kNew), kNew);
    }
};

INSTANTIATE_TEST_SUITE_P(Windows, Capacity,
                         ::testing::Values(std::vector<uint32_t>{0, 0, 0, 0},
                                           std::vector<uint32_t>{0, 40, 40, 40},
                                           std::vector<uint32_t>{20, 0, 90, 20},
                                           std::vector<uint32_t>{64, 64, 64, 64}));

TEST_P(Capacity, a_sequence_that_fills_it_is_computed_to_its_end) {
    for (const uint32_t block_tokens : {16u, 32u, 64u})
        for (const uint32_t ubatch : {7u, 512u}) {
            SCOPED_TRACE(::testing::Message() << "block " << block_tokens << ", ubatch " << ubatch);
            StepRig rig(model, options_of(model.spec().kv, ubatch, block_tokens, 60));
            const GenerateRequest request = longest(rig.settings(), 1);
            expect_same(rig.ask(request), oracle(model, request));
            expect_same(rig.ask(request), oracle(model, request));
        }
}

TEST_P(Capacity, two_that_fill_it_take_turns) {
    StepRig rig(model, options_of(model.spec().kv, 64, 16, 60));
    const GenerateRequest a = longest(rig.settings(), 1), b = longest(rig.settings(), 2);
    const auto first = rig.submit(a), second = rig.submit(b);
    rig.run();
    StreamResult told_a, told_b;
    listen(*first, told_a);
    listen(*second, told_b);
    expect_same(told_a, oracle(model, a));
    expect_same(told_b, oracle(model, b));
}

}  // namespace
}  // namespace kvik
