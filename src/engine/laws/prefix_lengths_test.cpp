// Prefixes whose ends fall on, just before and just after everything that has a size: a block, a
// chunk of a prompt, a window. Off-by-ones live there.
#include <gtest/gtest.h>

#include "support/cold_logits.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

struct Sizes {
    uint32_t block_tokens, ubatch, window;
};

// Lengths around multiples of these sizes.
std::vector<uint32_t> edges(const Sizes& sizes) {
    std::vector<uint32_t> all = {1, 2};
    for (const uint32_t size :
         {sizes.block_tokens, 2 * sizes.block_tokens, sizes.ubatch, sizes.window})
        for (const uint32_t n : {size - 1, size, size + 1})
            if (size > 0 && n > 2) all.push_back(n);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

// A prompt of n tokens and an answer, then a prompt of m tokens that begins alike.
void expect_cold_after(const HashModel& model, const EngineOptions& options,
                       std::span<const TokenId> prompt_sequence, uint32_t n, uint32_t m) {
    SCOPED_TRACE(::testing::Message() << "block " << options.block_tokens << ", ubatch "
                                      << options.ubatch << ", " << n << " tokens, then " << m);
    StepRig rig(model, options);
    const GenerateRequest first =
        request_for({prompt_sequence.begin(), prompt_sequence.begin() + n}, 3);
    const StreamResult result = rig.ask(first);
    expect_cold(model, result, first);
    const GenerateRequest second =
        request_for({prompt_sequence.begin(), prompt_sequence.begin() + m}, 3);
    const StreamResult again = rig.ask(second);
    expect_cold(model, again, second);
    std::vector<TokenId> known = joined(first.prompt, result.ids);
    known.pop_back();
    if (model.spec().kv.n_groups() > 1) return;  // it may resume somewhat earlier
    // Of a prompt that is cached to its end, without its last logits, one token is computed.
    const uint32_t n_common = common_prefix(known, second.prompt);
    EXPECT_EQ(again.summary.timings.n_cached_tokens, n_common == m && m != n ? m - 1 : n_common);
}

void expect_cold_around_edges(const HashModel& model, uint32_t window) {
    Random random(1);
    const std::vector<TokenId> prompt_sequence = random_tokens(random, 200);
    for (const uint32_t block_tokens : {16u, 32u, 64u}) {
        for (const uint32_t ubatch : {1u, block_tokens - 1, block_tokens, 50u}) {
            const EngineOptions options =
                options_of(model.spec().kv, ubatch, block_tokens, 20 * model.spec().kv.n_groups());
            const std::vector<uint32_t> lengths = edges({block_tokens, ubatch, window});
            for (const uint32_t n : lengths)
                for (const uint32_t m : lengths)
                    expect_cold_after(model, options, prompt_sequence, n, m);
        }
    }
}

TEST(PrefixLengths, around_every_size_give_the_bits_of_a_cold_run) {
    expect_cold_around_edges(HashModel(), 0);
}

TEST(PrefixLengths, around_a_window_give_the_bits_of_a_cold_run) {
    expect_cold_around_edges(HashModel({.n_layers = 2, .windows = {0, 40}}), 40);
}

}  // namespace
}  // namespace kvik
