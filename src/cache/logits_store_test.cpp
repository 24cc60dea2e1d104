#include "cache/logits_store.h"

#include <gtest/gtest.h>

namespace kvik {

static std::vector<float> row_of(float value, size_t n = 100) {
    return std::vector<float>(n, value);
}

// Room for two rows of 100 logits with their entries, and not for three.
static constexpr uint64_t kTwoRows = 2 * (100 * 4 + 160);

TEST(LogitsStore, gives_back_the_row_of_exactly_this_place) {
    LogitsStore store(kTwoRows);
    ASSERT_TRUE(store.put({3, 5}, row_of(1)));
    EXPECT_EQ(store.find({3, 5})[0], 1.0f);
    EXPECT_TRUE(store.find({3, 4}).empty());
    EXPECT_TRUE(store.find({4, 5}).empty());
}

TEST(LogitsStore, makes_room_by_dropping_the_least_recently_used_row) {
    LogitsStore store(kTwoRows);
    store.put({1, 1}, row_of(1));
    store.put({2, 1}, row_of(2));
    store.use({1, 1});
    ASSERT_TRUE(store.put({3, 1}, row_of(3)));
    EXPECT_FALSE(store.find({1, 1}).empty());
    EXPECT_TRUE(store.find({2, 1}).empty());
    EXPECT_FALSE(store.find({3, 1}).empty());
    store.check_invariants();
}

TEST(LogitsStore, refuses_one_row_that_alone_exceeds_the_budget) {
    LogitsStore store(kTwoRows);
    store.put({1, 1}, row_of(1));
    EXPECT_FALSE(store.put({2, 1}, row_of(2, 1000)));
    EXPECT_FALSE(store.find({1, 1}).empty()) << "a refused row drops no other";
    EXPECT_LE(store.n_bytes(), kTwoRows);
}

TEST(LogitsStore, replaces_a_row_by_itself) {
    LogitsStore store(kTwoRows);
    store.put({1, 1}, row_of(1));
    EXPECT_TRUE(store.put({1, 1}, store.find({1, 1})));
    EXPECT_EQ(store.find({1, 1})[99], 1.0f);
    store.check_invariants();
}

TEST(LogitsStore, moves_only_rows_of_the_common_tokens) {
    LogitsStore store(1 << 20);
    store.put({1, 2}, row_of(2));
    store.put({1, 5}, row_of(5));
    store.put({2, 1}, row_of(9));
    store.move({.from = 1, .to = 4, .max_rows = 4});
    EXPECT_EQ(store.find({4, 2})[0], 2.0f);
    EXPECT_TRUE(store.find({1, 2}).empty());
    EXPECT_EQ(store.find({1, 5})[0], 5.0f);
    EXPECT_EQ(store.find({2, 1})[0], 9.0f);
    store.check_invariants();
}

TEST(LogitsStore, drops_all_rows_of_a_node_and_their_bytes) {
    LogitsStore store(1 << 20);
    store.put({1, 2}, row_of(2));
    store.put({1, 5}, row_of(5));
    store.drop(1);
    EXPECT_EQ(store.n_bytes(), 0u);
    store.check_invariants();
}

}  // namespace kvik
