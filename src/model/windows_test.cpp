// Layers in groups of their own blocks give the bits of all layers in one block, also when what lies
// behind a window is NaN by then.
#include <gtest/gtest.h>

#include <cstring>

#include "testing/model_rig.h"
#include "testing/scratch_folder.h"
#include "testing/tiny_models.h"

namespace kvik::testing {
namespace {

constexpr uint32_t kTokens = 340;  // past the first chunk of attention

struct Windows : ::testing::TestWithParam<std::string> {
    TinyModel model = tiny_model(GetParam());
    ScratchFolder folder;
    std::vector<TokenId> tokens = random_tokens(kTokens, model.vocab_size, 7);

    void SetUp() override { ASSERT_TRUE(model.write(folder.path())); }

    RigOptions grouped(uint32_t block_tokens) const {
        RigOptions options;
        options.block_tokens = block_tokens;
        options.block_seed = 3;
        options.groups = KvGroups::of(model.windows);
        return options;
    }
    std::vector<float> whole(const RigOptions& options) {
        RigOptions plain = options;
        plain.groups = nullptr;
        return Rig(folder.path(), plain).all(tokens, kTokens);
    }
    // Chunk after chunk; before each, all that it must not read is poisoned.
    std::vector<float> in_chunks(const RigOptions& options, uint32_t chunk) {
        Rig rig(folder.path(), options);
        std::vector<float> logits;
        for (uint32_t past = 0; past < kTokens; past += chunk) {
            const uint32_t n = std::min(chunk, kTokens - past);
            rig.poison_behind_windows(0, past);
            const auto part =
                rig.step({{0, past, {tokens.begin() + past, tokens.begin() + past + n}}});
            EXPECT_TRUE(part.has_value());
            if (part) logits.insert(logits.end(), part->begin(), part->end());
        }
        return logits;
    }
    static void expect_same(const std::vector<float>& got, const std::vector<float>& want) {
        ASSERT_EQ(got.size(), want.size());
        EXPECT_EQ(0, std::memcmp(got.data(), want.data(), 4 * got.size()));
    }
};

// Layers with a window of 40 and one without.
INSTANTIATE_TEST_SUITE_P(Tiny, Windows, ::testing::Values("gemma3_text"),
                         [](const auto& test) { return test.param; });

TEST_P(Windows, groups_give_the_bits_of_one_group_in_chunks_across_window_and_block) {
    for (const uint32_t block_tokens : {16u, 32u, 64u}) {
        const RigOptions options = grouped(block_tokens);
        const std::vector<float> want = whole(options);
        for (const uint32_t chunk : {1u, 13u, 39u, 40u, 41u, 64u, 257u}) {
            SCOPED_TRACE(::testing::Message() << "block " << block_tokens << ", chunk " << chunk);
            expect_same(in_chunks(options, chunk), want);
        }
    }
}

TEST_P(Windows, groups_give_the_same_bits_with_any_type_of_kv_and_number_of_threads) {
    for (const KvType kv : {KvType::f16, KvType::f32, KvType::q8})
        for (const uint32_t n_threads : {1u, 3u}) {
            RigOptions options = grouped(32);
            options.kv = kv;
            options.n_threads = n_threads;
            const std::vector<float> want = whole(options);
            for (const uint32_t chunk : {1u, 41u}) expect_same(in_chunks(options, chunk), want);
        }
}

TEST_P(Windows, groups_give_the_same_bits_with_every_instruction_set) {
    const std::vector<float> want = whole(grouped(32));
    for (const KernelTable* kernels : runnable_kernels()) {
        RigOptions options = grouped(32);
        options.kernels = kernels;
        expect_same(in_chunks(options, 41), want);
    }
}

TEST_P(Windows, sequences_of_one_batch_that_begin_alike_share_the_blocks_of_every_group) {
    const RigOptions options = grouped(16);
    const std::vector<float> want = whole(options);
    Rig rig(folder.path(), options, 2);
    constexpr uint32_t kShared = 160;
    ASSERT_TRUE(rig.step({{0, 0, {tokens.begin(), tokens.begin() + kShared}}}).has_value());
    rig.share_prefix({.from = 0, .to = 1, .n_tokens = kShared});
    rig.poison_behind_windows(0, kShared);
    for (uint32_t past = kShared; past < kShared + 60; ++past) {
        const std::vector<TokenId> row = {tokens[past]};
        const auto logits = rig.step({{0, past, row}, {1, past, row}});
        ASSERT_TRUE(logits.has_value());
        const float* right = want.data() + uint64_t{past} * model.vocab_size;
        for (uint32_t s = 0; s < 2; ++s)
            EXPECT_EQ(0, std::memcmp(logits->data() + uint64_t{s} * model.vocab_size, right,
                                     4 * model.vocab_size));
    }
}

// The poison would be seen: a window that were one block longer reads it.
TEST_P(Windows, a_block_released_too_early_is_seen) {
    const RigOptions options = grouped(16);
    Rig rig(folder.path(), options);
    ASSERT_TRUE(rig.step({{0, 0, {tokens.begin(), tokens.begin() + 200}}}).has_value());
    rig.poison_behind_windows(0, 200 + 16);
    EXPECT_FALSE(rig.step({{0, 200, {tokens[200]}}}).has_value()) << "NaN is an error of the step";
}

}  // namespace
}  // namespace kvik::testing
