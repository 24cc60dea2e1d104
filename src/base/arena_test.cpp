#include "base/arena.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kvik {

TEST(Arena, is_zero_filled_aligned_and_writable_to_its_last_byte) {
    Result<Arena> arena = Arena::reserve(100'003, "test");
    ASSERT_TRUE(arena);
    EXPECT_EQ(arena->n_bytes(), 100'003u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arena->data()) % 64, 0u);
    EXPECT_TRUE(std::all_of(arena->data(), arena->data() + arena->n_bytes(),
                            [](std::byte b) { return b == std::byte{0}; }));
    arena->data()[100'002] = std::byte{7};
    EXPECT_EQ(arena->data()[100'002], std::byte{7});
}

TEST(Arena, of_no_bytes_is_fine) {
    const Result<Arena> arena = Arena::reserve(0, "test");
    ASSERT_TRUE(arena);
    EXPECT_EQ(arena->n_bytes(), 0u);
}

TEST(Arena, keeps_its_memory_where_it_is_when_moved) {
    Arena first = *Arena::reserve(4096, "test");
    std::byte* const data = first.data();
    data[5] = std::byte{9};
    Arena second = std::move(first);
    EXPECT_EQ(second.data(), data);
    Arena third;
    third = std::move(second);
    EXPECT_EQ(third.data(), data);
    EXPECT_EQ(third.data()[5], std::byte{9});
}

TEST(Arena, says_what_did_not_fit_and_how_large_it_was) {
    const Result<Arena> arena = Arena::reserve(1ull << 60, "KV cache");
    ASSERT_FALSE(arena);
    EXPECT_EQ(arena.error().kind, ErrorKind::memory);
    EXPECT_NE(arena.error().message.find("1099511627776.0 MiB for the KV cache"), std::string::npos)
        << arena.error().message;
}

}  // namespace kvik
