#include "cache/kv_storage.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <span>
#include <vector>

namespace kvik {

TEST(KvStorage, refuses_a_cache_of_no_blocks) {
    const auto storage = KvStorage::open({.n_layers = 1, .n_kv_heads = 1, .head_dim = 4}, 0);
    ASSERT_FALSE(storage.has_value());
    EXPECT_EQ(storage.error().kind, ErrorKind::usage);
}

TEST(KvStorage, refuses_blocks_that_do_not_fill_their_tiles) {
    for (const uint32_t block_tokens : {0u, 1u, 24u}) {
        const auto storage = KvStorage::open(
            {.n_layers = 1, .n_kv_heads = 1, .head_dim = 4, .block_tokens = block_tokens}, 1);
        ASSERT_FALSE(storage.has_value());
        EXPECT_EQ(storage.error().message, "KV block has " + std::to_string(block_tokens) +
                                               " tokens: it must be a multiple of 16");
    }
}

TEST(KvStorage, refuses_more_bytes_than_there_are_addresses) {
    const KvSpec spec{.n_layers = 1u << 20, .n_kv_heads = 1u << 10, .head_dim = 1u << 10};
    const auto storage = KvStorage::open(spec, UINT32_MAX);
    ASSERT_FALSE(storage.has_value());
    EXPECT_EQ(storage.error().kind, ErrorKind::memory);
}

struct Copied {
    KvType type;
    uint32_t n_tokens;
};
class RowCopies : public testing::TestWithParam<Copied> {};

// Method: three blocks of random bytes; rows of the first go to the last. Every element of every
// row is then where view.h says, and nothing else changed but lanes of the last tile.
TEST_P(RowCopies, move_the_first_rows_of_every_layer_and_head_and_nothing_else) {
    const auto [type, n_tokens] = GetParam();
    const KvSpec spec{
        .n_layers = 3, .n_kv_heads = 2, .head_dim = 6, .block_tokens = 32, .type = type};
    KvStorage storage = *KvStorage::open(spec, 3);
    std::mt19937 random(n_tokens);
    const std::span<std::byte> all(storage.view().base, storage.n_bytes());
    for (std::byte& byte : all) byte = static_cast<std::byte>(random());
    const std::vector<std::byte> before(all.begin(), all.end());

    storage.copy_rows({.from = BlockId{0}, .to = BlockId{2}, .n_tokens = n_tokens});

    const KvView now = storage.view();
    const size_t n_untouched = 2 * spec.block_bytes();
    EXPECT_EQ(std::memcmp(all.data(), before.data(), n_untouched), 0) << "the other blocks";
    const size_t bytes = spec.element_bytes();
    for (uint32_t layer = 0; layer < 3; ++layer)
        for (uint32_t head = 0; head < 2; ++head)
            for (uint32_t row = 0; row < 32; ++row)
                for (uint32_t d = 0; d < 6; ++d) {
                    const std::byte* v = now.v(BlockId{2}, layer, head) + (row * 6 + d) * bytes;
                    const std::byte* v_from =
                        now.v(BlockId{0}, layer, head) + (row * 6 + d) * bytes;
                    const std::byte* v_old = before.data() + (v - now.base);
                    if (row >= n_tokens && row / 16 == (n_tokens + 15) / 16 - 1) continue;
                    EXPECT_EQ(std::memcmp(v, row < n_tokens ? v_from : v_old, bytes), 0);
                    if (row >= n_tokens) continue;
                    const size_t k_at = (row / 16 * 6 + d) * 16 + row % 16;
                    EXPECT_EQ(std::memcmp(now.k(BlockId{2}, layer, head) + k_at * bytes,
                                          now.k(BlockId{0}, layer, head) + k_at * bytes, bytes),
                              0);
                }
}

// Scales lie behind the bytes of a tile and go with them.
TEST(KvStorage, copies_the_tiles_of_q8_with_their_scales) {
    const KvSpec spec{
        .n_layers = 2, .n_kv_heads = 3, .head_dim = 80, .block_tokens = 64, .type = KvType::q8};
    EXPECT_EQ(spec.k_tile_bytes(), 16u * 80 + 3 * 64);
    EXPECT_EQ(spec.v_tile_bytes(), 16u * 80 + 64);
    EXPECT_EQ(spec.bytes_per_token(), 2u * 3 * (80 + 12 + 80 + 4));
    KvStorage storage = *KvStorage::open(spec, 2);
    const std::span<std::byte> all(storage.view().base, storage.n_bytes());
    std::mt19937 random(1);
    for (std::byte& byte : all) byte = static_cast<std::byte>(random());
    const std::vector<std::byte> before(all.begin(), all.end());

    storage.copy_rows({.from = BlockId{0}, .to = BlockId{1}, .n_tokens = 17});

    const KvView kv = storage.view();
    for (uint32_t layer = 0; layer < 2; ++layer)
        for (uint32_t head = 0; head < 3; ++head)
            for (uint32_t tile = 0; tile < 4; ++tile) {
                const auto same = [&](const std::byte* to, const std::byte* from, uint64_t bytes) {
                    const std::byte* want = tile < 2 ? from : before.data() + (to - kv.base);
                    return std::memcmp(to, want, bytes) == 0;
                };
                const uint64_t k_at = tile * spec.k_tile_bytes(), v_at = tile * spec.v_tile_bytes();
                EXPECT_TRUE(same(kv.k(BlockId{1}, layer, head) + k_at,
                                 kv.k(BlockId{0}, layer, head) + k_at, spec.k_tile_bytes()));
                EXPECT_TRUE(same(kv.v(BlockId{1}, layer, head) + v_at,
                                 kv.v(BlockId{0}, layer, head) + v_at, spec.v_tile_bytes()));
            }
}

INSTANTIATE_TEST_SUITE_P(KvStorage, RowCopies,
                         testing::Values(Copied{KvType::f16, 0}, Copied{KvType::f16, 1},
                                         Copied{KvType::f16, 15}, Copied{KvType::f16, 16},
                                         Copied{KvType::f16, 17}, Copied{KvType::f16, 32},
                                         Copied{KvType::f32, 1}, Copied{KvType::f32, 17},
                                         Copied{KvType::f32, 32}));

}  // namespace kvik
