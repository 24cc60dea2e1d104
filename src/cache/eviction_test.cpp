#include "cache/eviction.h"

#include <gtest/gtest.h>

#include "cache/test_rig.h"

namespace kvik {

TEST(Eviction, every_policy_is_read_back_by_its_name) {
    for (const auto policy :
         {EvictionPolicy::lru, EvictionPolicy::fifo, EvictionPolicy::lfu, EvictionPolicy::cost})
        EXPECT_EQ(parse_eviction(eviction_name(policy)), policy);
    EXPECT_FALSE(parse_eviction("random").has_value());
    EXPECT_FALSE(parse_eviction("").has_value());
}

TEST(Eviction, lru_lets_the_least_recently_used_go) {
    EXPECT_LT(eviction_rank(EvictionPolicy::lru, {.last_use = 4, .n_uses = 9}),
              eviction_rank(EvictionPolicy::lru, {.last_use = 5, .n_uses = 1}));
}

TEST(Eviction, fifo_lets_the_oldest_go_however_often_it_was_used) {
    EXPECT_LT(eviction_rank(EvictionPolicy::fifo, {.last_use = 9, .inserted = 1, .n_uses = 9}),
              eviction_rank(EvictionPolicy::fifo, {.last_use = 5, .inserted = 5}));
}

TEST(Eviction, lfu_lets_the_least_often_used_go_and_of_equals_the_least_recent) {
    const auto rank = [](uint64_t n_uses, uint64_t last_use) {
        return eviction_rank(EvictionPolicy::lfu, {.last_use = last_use, .n_uses = n_uses});
    };
    EXPECT_LT(rank(1, 9), rank(2, 3));
    EXPECT_LT(rank(2, 3), rank(2, 4));
}

TEST(Eviction, cost_weighs_uses_and_time_against_blocks) {
    const LeafFacts base{.last_use = 1, .n_uses = 4, .recompute_ms = 10, .n_blocks = 2};
    const EvictionRank rank = eviction_rank(EvictionPolicy::cost, base);
    EXPECT_EQ(rank.value, 10.0);
    LeafFacts other = base;
    other.n_uses = 5;
    EXPECT_GT(eviction_rank(EvictionPolicy::cost, other), rank);
    other = base;
    other.recompute_ms = 5;
    EXPECT_LT(eviction_rank(EvictionPolicy::cost, other), rank);
    other = base;
    other.n_blocks = 4;
    EXPECT_LT(eviction_rank(EvictionPolicy::cost, other), rank);
    other = base;
    other.clock = 7;
    EXPECT_EQ(eviction_rank(EvictionPolicy::cost, other).value, 17.0);
}

// ---- the policies in the tree ----

static const NamespaceKey kNs = namespace_key({"test"});

static void use(TestRig& rig, const Tokens& tokens) {
    rig.tree.use(rig.tree.match(kNs, tokens));
}

// Which of {1}, {2} and {3} is left last, after they were published in this order and used.
static TokenId last_left(EvictionPolicy policy, const Tokens& uses) {
    TestRig rig({.policy = policy});
    for (const TokenId i : {1, 2, 3}) rig.publish(kNs, {i});
    for (const TokenId i : uses) use(rig, {i});
    EXPECT_EQ(rig.tree.evict(2), 2u);
    for (const TokenId i : {1, 2, 3})
        if (rig.tree.match(kNs, Tokens{i}).n_tokens > 0) return i;
    return 0;
}

TEST(Eviction, the_tree_keeps_what_its_policy_values_most) {
    EXPECT_EQ(last_left(EvictionPolicy::lru, {1, 1, 2}), 2);
    EXPECT_EQ(last_left(EvictionPolicy::fifo, {1, 1, 2}), 3);
    EXPECT_EQ(last_left(EvictionPolicy::lfu, {1, 1, 2}), 1);
    EXPECT_EQ(last_left(EvictionPolicy::cost, {1, 1, 2}), 1);
}

TEST(Eviction, under_cost_a_long_prefix_in_use_outlives_side_calls) {
    TestRig rig({.n_blocks = 16, .policy = EvictionPolicy::cost});
    const Tokens conversation = count_from(1, 64);
    rig.publish(kNs, conversation);
    for (int i = 0; i < 3; ++i) use(rig, conversation);
    for (TokenId side = 0; side < 30; ++side) {
        rig.tree.evict(rig.pool.n_free() == 0);
        rig.publish(kNs, joined({500}, {side}));
    }
    EXPECT_EQ(rig.tree.match(kNs, conversation).n_tokens, 64u);
    rig.tree.check_invariants();
}

TEST(Eviction, under_cost_old_merits_age) {
    TestRig rig({.n_blocks = 4, .policy = EvictionPolicy::cost});
    rig.publish(kNs, count_from(1, 16));
    for (int i = 0; i < 3; ++i) use(rig, count_from(1, 16));
    for (TokenId i = 0; i < 40; ++i) {
        rig.tree.evict(rig.pool.n_free() == 0);
        rig.publish(kNs, joined({500 + i}, count_from(600, 15)));
    }
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 16)).n_tokens, 0u);
}

TEST(Eviction, what_takes_longer_to_compute_stays_longer) {
    TestRig rig({.policy = EvictionPolicy::cost,
                 .recompute_ms = [](uint32_t depth, uint32_t n) { return n * (1.0 + depth); }});
    rig.publish(kNs, count_from(1, 32));    // its end is deep
    rig.publish(kNs, count_from(500, 16));  // more recent
    EXPECT_EQ(rig.tree.evict(1), 1u);
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 32)).n_tokens, 32u);
}

// ---- forgetting ----

TEST(Forget, takes_what_no_other_path_needs_out_of_the_tree) {
    TestRig rig({.n_blocks = 16});
    const Tokens common = count_from(1, 32);
    rig.publish(kNs, joined(common, count_from(100, 40)));
    rig.publish(kNs, joined(common, count_from(200, 20)));
    rig.tree.forget(kNs, joined(common, count_from(100, 40)), 0, ForgetKind::now);
    EXPECT_EQ(rig.tree.match(kNs, joined(common, count_from(100, 40))).n_tokens, 32u);
    EXPECT_EQ(rig.tree.match(kNs, joined(common, count_from(200, 20))).n_tokens, 52u);
    EXPECT_EQ(rig.tree.stats().forgotten_blocks, 3u);
    rig.tree.forget(kNs, joined(common, count_from(200, 20)), 0, ForgetKind::now);
    EXPECT_EQ(rig.pool.n_used(), 0u);
    rig.tree.check_invariants();
}

TEST(Forget, keeps_the_common_prefix) {
    for (const uint32_t from : {0u, 1u, 16u, 17u, 32u, 33u, 48u}) {
        TestRig rig({});
        rig.publish(kNs, count_from(1, 40));
        rig.tree.forget(kNs, count_from(1, 40), from, ForgetKind::now);
        const uint32_t n_kept = std::min(40u, (from + 15) / 16 * 16);
        EXPECT_EQ(rig.tree.match(kNs, count_from(1, 40)).n_tokens, n_kept) << from;
        rig.tree.check_invariants();
    }
}

TEST(Forget, leaves_alone_what_goes_on_or_is_pinned_or_unknown) {
    TestRig rig({});
    rig.publish(kNs, count_from(1, 40));
    rig.tree.forget(kNs, count_from(1, 32), 0, ForgetKind::now);
    rig.tree.forget(kNs, count_from(1, 36), 0, ForgetKind::now);
    rig.tree.forget(kNs, count_from(500, 3), 0, ForgetKind::now);
    rig.tree.forget(namespace_key({"other"}), count_from(1, 40), 0, ForgetKind::now);
    const std::optional<Pin> pin = rig.tree.pin(rig.tree.match(kNs, count_from(1, 40)));
    rig.tree.forget(kNs, count_from(1, 40), 0, ForgetKind::now);
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 40)).n_tokens, 40u);
}

TEST(Forget, what_is_stale_is_still_found_but_goes_first) {
    TestRig rig({.n_blocks = 16});
    rig.publish(kNs, count_from(500, 20));
    rig.publish(kNs, count_from(1, 40));
    rig.tree.forget(kNs, count_from(1, 40), 16, ForgetKind::stale);
    rig.tree.check_invariants();
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 40)).n_tokens, 40u);
    EXPECT_EQ(rig.tree.evict(2), 2u);
    EXPECT_EQ(rig.tree.match(kNs, count_from(500, 20)).n_tokens, 20u);
    EXPECT_EQ(rig.tree.match(kNs, count_from(1, 40)).n_tokens, 16u);
}

TEST(Forget, using_what_is_stale_makes_it_fresh) {
    TestRig rig({.n_blocks = 16});
    rig.publish(kNs, {1});
    rig.publish(kNs, {2});
    rig.tree.forget(kNs, Tokens{2}, 0, ForgetKind::stale);
    use(rig, {2});
    rig.tree.evict(1);
    EXPECT_EQ(rig.tree.match(kNs, Tokens{2}).n_tokens, 1u);
}

// ---- pins with a time ----

TEST(TimedPins, guard_a_path_until_their_time_comes) {
    TestRig rig({.n_blocks = 16});
    rig.publish(kNs, count_from(1, 40));
    rig.tree.set_clock(1000);
    EXPECT_TRUE(rig.tree.pin_until(rig.tree.match(kNs, count_from(1, 40)), 2000));
    EXPECT_EQ(rig.tree.evict(10), 0u);
    rig.tree.set_clock(1999);
    EXPECT_EQ(rig.tree.evict(10), 0u);
    rig.tree.check_invariants();
    rig.tree.set_clock(2000);
    EXPECT_EQ(rig.tree.evict(10), 3u);
    rig.tree.check_invariants();
}

TEST(TimedPins, the_later_time_counts) {
    TestRig rig({.n_blocks = 16});
    rig.publish(kNs, {1});
    const PrefixHit hit = rig.tree.match(kNs, Tokens{1});
    EXPECT_TRUE(rig.tree.pin_until(hit, 10));
    EXPECT_TRUE(rig.tree.pin_until(hit, 30));
    EXPECT_TRUE(rig.tree.pin_until(hit, 20));
    rig.tree.set_clock(29);
    EXPECT_EQ(rig.tree.release_shared(1), 0u);
    rig.tree.set_clock(30);
    EXPECT_EQ(rig.tree.release_shared(1), 1u);
    rig.tree.check_invariants();
}

TEST(TimedPins, hold_no_more_than_their_share_and_count_a_common_prefix_once) {
    TestRig rig({.n_blocks = 16});  // half of them may be pinned
    const Tokens common = count_from(1, 96);
    for (const TokenId i : {900, 901, 902, 903}) rig.publish(kNs, joined(common, {i}));
    const auto pin = [&](TokenId i) {
        return rig.tree.pin_until(rig.tree.match(kNs, joined(common, {i})), 100);
    };
    EXPECT_TRUE(pin(900));
    EXPECT_TRUE(pin(901));
    EXPECT_FALSE(pin(902));
    rig.tree.check_invariants();
    rig.tree.set_clock(100);
    EXPECT_FALSE(pin(902)) << "its time has come already";
    EXPECT_TRUE(rig.tree.pin_until(rig.tree.match(kNs, joined(common, {902})), 200));
    rig.tree.check_invariants();
}

}  // namespace kvik
