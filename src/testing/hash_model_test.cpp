// The laws that make the hash model a judge: right KV always gives the cold logits, wrong KV never.
#include "testing/hash_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/thread_pool.h"
#include "cache/block_table.h"
#include "cache/kv_storage.h"

namespace kvik {

static KvStorage storage_for(const HashModel& model, KvType type, uint32_t n_blocks) {
    KvSpec spec = model.spec().kv;
    spec.block_tokens = 16;
    spec.type = type;
    return *KvStorage::open(spec, n_blocks);
}

static std::vector<TokenId> some_tokens(size_t n) {
    std::vector<TokenId> out(n);
    for (size_t i = 0; i < n; ++i) out[i] = static_cast<TokenId>(i * 37 % 101);
    return out;
}

class HashModelTypes : public testing::TestWithParam<KvType> {};

TEST_P(HashModelTypes, gives_the_cold_logits_for_every_chunking_and_any_order_of_blocks) {
    const HashModel model;
    ThreadPool threads(1);
    const std::unique_ptr<Scratch> scratch = *model.make_scratch({}, threads);
    const std::vector<TokenId> tokens = some_tokens(40);
    const std::array<BlockId, 3> blocks = {BlockId{2}, BlockId{0}, BlockId{1}};
    for (const size_t chunk : {1u, 7u, 16u, 40u}) {
        KvStorage storage = storage_for(model, GetParam(), 3);
        for (size_t at = 0; at < tokens.size(); at += chunk) {
            const auto n = static_cast<uint32_t>(std::min(chunk, tokens.size() - at));
            const SequenceRows rows{
                .blocks = blocks, .n_past = static_cast<uint32_t>(at), .first_row = 0, .n_rows = n};
            std::vector<uint32_t> all_rows(n);
            for (uint32_t i = 0; i < n; ++i) all_rows[i] = i;
            std::vector<float> logits(n * 101);
            ASSERT_TRUE(model
                            .forward({.tokens = std::span(tokens).subspan(at, n),
                                      .sequences = {&rows, 1},
                                      .logits_rows = all_rows},
                                     storage.view(), *scratch, logits)
                            .has_value());
            for (uint32_t i = 0; i < n; ++i)
                EXPECT_TRUE(
                    std::ranges::equal(std::span(logits).subspan(i * 101, 101),
                                       model.cold_logits(std::span(tokens).first(at + i + 1))));
        }
        EXPECT_EQ(model.read_back(storage.view(), blocks, 40), model.cold_logits(tokens));
    }
    EXPECT_EQ(model.n_rows_computed(), 4 * 40u);
    EXPECT_EQ(model.n_forwards(), 40u + 6 + 3 + 1);
}

TEST_P(HashModelTypes, gives_each_sequence_of_a_batch_its_own_logits) {
    const HashModel model;
    ThreadPool threads(1);
    const std::unique_ptr<Scratch> scratch = *model.make_scratch({}, threads);
    KvStorage storage = storage_for(model, GetParam(), 3);
    const std::vector<TokenId> tokens = some_tokens(30);
    const std::array<BlockId, 1> first = {BlockId{1}};
    const std::array<BlockId, 2> second = {BlockId{2}, BlockId{0}};
    const std::array<SequenceRows, 2> rows = {
        SequenceRows{.blocks = first, .n_past = 0, .first_row = 0, .n_rows = 10},
        SequenceRows{.blocks = second, .n_past = 0, .first_row = 10, .n_rows = 20}};
    const std::array<uint32_t, 2> wanted = {9, 28};
    std::vector<float> logits(2 * 101);
    ASSERT_TRUE(model
                    .forward({.tokens = tokens, .sequences = rows, .logits_rows = wanted},
                             storage.view(), *scratch, logits)
                    .has_value());
    EXPECT_TRUE(std::ranges::equal(std::span(logits).first(101),
                                   model.cold_logits(std::span(tokens).first(10))));
    EXPECT_TRUE(std::ranges::equal(std::span(logits).last(101),
                                   model.cold_logits(std::span(tokens).subspan(10, 19))));
}

// Method: change each byte of one block in turn; a byte of a position in use must change the
// logits.
TEST_P(HashModelTypes, sees_every_wrong_byte_of_every_position_in_use) {
    const HashModel model;
    ThreadPool threads(1);
    const std::unique_ptr<Scratch> scratch = *model.make_scratch({}, threads);
    KvStorage storage = storage_for(model, GetParam(), 1);
    const std::vector<TokenId> tokens = some_tokens(15);
    const std::array<BlockId, 1> blocks = {BlockId{0}};
    const SequenceRows rows{.blocks = blocks, .n_past = 0, .first_row = 0, .n_rows = 15};
    ASSERT_TRUE(model
                    .forward({.tokens = tokens, .sequences = {&rows, 1}, .logits_rows = {}},
                             storage.view(), *scratch, {})
                    .has_value());
    const std::vector<float> right = model.cold_logits(tokens);
    size_t n_seen = 0;
    for (uint64_t i = 0; i < storage.n_bytes(); ++i) {
        std::byte& byte = storage.view().base[i];
        byte ^= std::byte{1};
        n_seen += model.read_back(storage.view(), blocks, 15) != right;
        byte ^= std::byte{1};
    }
    EXPECT_EQ(n_seen, storage.n_bytes() / 16 * 15) << "15 of 16 positions are in use";
}

// Layers 0 and 3 see all, 1 and 2 the last 20 positions: two groups of two layers.
static HashModelOptions with_windows() {
    return {.n_layers = 4, .windows = {0, 20, 20, 0}};
}

// Method: a table that lets go of blocks, which are poisoned at once, against the tokens alone.
TEST_P(HashModelTypes, with_windows_never_looks_behind_them) {
    const HashModel model(with_windows());
    ThreadPool threads(1);
    const std::unique_ptr<Scratch> scratch = *model.make_scratch({}, threads);
    KvStorage storage = storage_for(model, GetParam(), 64);
    BlockPool pool(64);
    const std::vector<TokenId> tokens = some_tokens(300);
    for (const uint32_t chunk : {1u, 7u, 33u, 300u}) {
        BlockTable table(pool, storage, 300);
        while (table.n_tokens() < 300) {
            const uint32_t n = std::min(chunk, 300 - table.n_tokens());
            ASSERT_TRUE(table.reserve(n));
            const SequenceRows rows{.blocks = table.ids(),
                                    .n_past = table.n_tokens(),
                                    .first_row = 0,
                                    .n_rows = n,
                                    .group_stride = table.max_logical_blocks()};
            const std::array<uint32_t, 1> wanted = {n - 1};
            std::vector<float> logits(101);
            ASSERT_TRUE(model
                            .forward({.tokens = std::span(tokens).subspan(table.n_tokens(), n),
                                      .sequences = {&rows, 1},
                                      .logits_rows = wanted},
                                     storage.view(), *scratch, logits)
                            .has_value());
            table.append(n);
            table.release_behind_windows();
            EXPECT_EQ(logits, model.cold_logits(std::span(tokens).first(table.n_tokens())));
            std::vector<BlockRef> free;
            while (auto block = pool.take()) {
                std::memset(storage.view().k(block->id(), 0, 0), 0x55,
                            storage.spec().block_bytes());
                free.push_back(std::move(*block));
            }
        }
        EXPECT_GT(table.group_blocks(1).first, 0u);
    }
}

TEST_P(HashModelTypes, with_windows_sees_every_wrong_byte_that_a_layer_should_see) {
    const HashModel model(with_windows());
    ThreadPool threads(1);
    const std::unique_ptr<Scratch> scratch = *model.make_scratch({}, threads);
    KvStorage storage = storage_for(model, GetParam(), 6);
    const std::vector<TokenId> tokens = some_tokens(47);
    const std::array<BlockId, 6> blocks = {BlockId{3}, BlockId{0}, BlockId{5},
                                           BlockId{1}, BlockId{4}, BlockId{2}};
    const SequenceRows rows{.blocks = std::span(blocks).first(3),
                            .n_past = 0,
                            .first_row = 0,
                            .n_rows = 47,
                            .group_stride = 3};
    ASSERT_TRUE(model
                    .forward({.tokens = tokens, .sequences = {&rows, 1}, .logits_rows = {}},
                             storage.view(), *scratch, {})
                    .has_value());
    const std::vector<float> right = model.cold_logits(tokens);
    EXPECT_EQ(model.read_back(storage.view(), rows, 47), right);
    size_t n_seen = 0;
    for (uint64_t i = 0; i < storage.n_bytes(); i += storage.spec().element_bytes()) {
        std::byte& byte = storage.view().base[i + storage.spec().element_bytes() - 1];
        byte ^= std::byte{1};
        n_seen += model.read_back(storage.view(), rows, 47) != right;
        byte ^= std::byte{1};
    }
    const uint64_t per_position =
        storage.spec().block_bytes() / 16 / storage.spec().element_bytes();
    EXPECT_EQ(n_seen, per_position * (47 + 20));
}

INSTANTIATE_TEST_SUITE_P(HashModel, HashModelTypes, testing::Values(KvType::f16, KvType::f32));

}  // namespace kvik
