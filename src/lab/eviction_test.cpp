#include "lab/eviction.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lab/hit_bound.h"
#include "lab/replay.h"
#include "lab/trace.h"

namespace kvik::lab {
namespace {

constexpr EvictionPolicy kPolicies[] = {EvictionPolicy::lru, EvictionPolicy::fifo,
                                        EvictionPolicy::lfu, EvictionPolicy::cost};

// The first requests of a trace, so that a test takes no time.
Trace start_of(Trace trace, size_t n_requests = 200) {
    trace.requests.resize(std::min(trace.requests.size(), n_requests));
    return trace;
}

// What a cache that forgets nothing finds: token by token, without blocks or a tree.
uint64_t longest_known_prefixes(const Trace& trace) {
    std::vector<std::vector<TokenId>> known;
    uint64_t n_hits = 0;
    for (const TraceRequest& request : trace.requests) {
        size_t longest = 0;
        for (const auto& sequence : known) {
            const size_t n = std::min(sequence.size(), request.prompt.size());
            const auto end =
                std::mismatch(sequence.begin(), sequence.begin() + static_cast<std::ptrdiff_t>(n),
                              request.prompt.begin());
            longest = std::max(longest, static_cast<size_t>(end.first - sequence.begin()));
        }
        n_hits += longest;
        known.push_back(request.prompt);
        known.back().insert(known.back().end(), request.answer.begin(), request.answer.end() - 1);
    }
    return n_hits;
}

ReplayResult played(const Trace& trace, const ReplayOptions& options) {
    const auto result = replay(trace, options);
    if (!result) throw std::runtime_error(result.error().message);
    return *result;
}

TEST(Traces, are_the_same_for_the_same_seed_and_in_the_order_of_time) {
    const auto once = all_traces(7), again = all_traces(7), other = all_traces(8);
    for (size_t i = 0; i < once.size(); ++i) {
        ASSERT_EQ(once[i].requests.size(), again[i].requests.size());
        double before_ms = 0;
        for (size_t k = 0; k < once[i].requests.size(); ++k) {
            EXPECT_EQ(once[i].requests[k].prompt, again[i].requests[k].prompt);
            EXPECT_GE(once[i].requests[k].at_ms, before_ms);
            EXPECT_FALSE(once[i].requests[k].answer.empty());
            before_ms = once[i].requests[k].at_ms;
        }
        EXPECT_NE(once[i].requests.front().prompt, other[i].requests.front().prompt);
    }
}

TEST(Traces, share_what_they_say_they_share) {
    for (const Trace& trace : all_traces(1)) {
        SCOPED_TRACE(trace.name);
        const auto all = played(trace, {.n_blocks = blocks_for_all(trace, 32)});
        EXPECT_GT(all.hit_percent(), 25);
        EXPECT_LT(all.hit_percent(), 99);
        EXPECT_EQ(all.n_evicted_blocks, 0u);
    }
}

TEST(Replay, without_eviction_finds_the_longest_prefix_that_was_ever_computed) {
    for (const uint64_t seed : {1ull, 2ull, 3ull})
        for (const Trace& whole : all_traces(seed)) {
            const Trace trace = start_of(whole);
            SCOPED_TRACE(trace.name);
            EXPECT_EQ(played(trace, {.n_blocks = blocks_for_all(trace, 32)}).n_hit_tokens,
                      longest_known_prefixes(trace));
        }
}

TEST(Replay, no_policy_finds_more_than_one_that_knows_the_future) {
    for (const uint64_t seed : {1ull, 2ull})
        for (const Trace& whole : all_traces(seed)) {
            const Trace trace = start_of(whole, 400);
            const uint32_t least = (facts_of(trace).longest + 31) / 32 + 1;
            for (const uint32_t n_blocks : {least, least * 2, least * 4, least * 16}) {
                const auto most = most_hit_tokens(trace, n_blocks, 32);
                ASSERT_TRUE(most);
                for (const EvictionPolicy policy : kPolicies) {
                    SCOPED_TRACE(trace.name + " " + std::string(eviction_name(policy)) + " " +
                                 std::to_string(n_blocks));
                    const auto result = played(trace, {.policy = policy, .n_blocks = n_blocks});
                    EXPECT_LE(result.n_hit_tokens, *most);
                    EXPECT_GT(result.n_hit_tokens, 0u);
                }
            }
        }
}

TEST(Replay, evicting_only_ever_adds_to_what_is_computed) {
    for (const Trace& whole : all_traces(4)) {
        const Trace trace = start_of(whole);
        const auto all = played(trace, {.n_blocks = blocks_for_all(trace, 32)});
        const uint32_t least = (facts_of(trace).longest + 31) / 32 + 1;
        for (const EvictionPolicy policy : kPolicies) {
            const auto tight = played(trace, {.policy = policy, .n_blocks = least});
            EXPECT_GE(tight.recompute_ms, all.recompute_ms);
            EXPECT_EQ(tight.n_prompt_tokens, all.n_prompt_tokens);
            EXPECT_GT(tight.n_evicted_blocks, 0u);
        }
    }
}

// a b a b with room for one: whoever keeps a finds one, the least recently used finds none.
TEST(HitBound, drops_what_is_needed_last) {
    Trace trace{.name = "small", .description = "", .requests = {}};
    for (const TokenId token : {1, 2, 1, 2}) trace.requests.push_back({0, {token}, {9}});
    EXPECT_EQ(*most_hit_tokens(trace, 1, 1), 1u);
    EXPECT_EQ(*most_hit_tokens(trace, 2, 1), 2u);
    EXPECT_EQ(played(trace, {.n_blocks = 1, .block_tokens = 1}).n_hit_tokens, 0u);
    EXPECT_EQ(played(trace, {.n_blocks = 2, .block_tokens = 1}).n_hit_tokens, 2u);
}

TEST(Replay, a_request_that_does_not_fit_is_an_error_with_both_numbers) {
    const auto result = replay(start_of(chat_trace(1)), {.n_blocks = 4});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::usage);
    EXPECT_NE(result.error().message.find(" of 4 "), std::string::npos) << result.error().message;
}

TEST(MadeUpTime, of_two_parts_is_that_of_the_whole_and_grows_with_the_depth) {
    EXPECT_NEAR(made_up_ms(0, 1000) + made_up_ms(1000, 500), made_up_ms(0, 1500), 1e-9);
    EXPECT_GT(made_up_ms(4000, 100), 1.5 * made_up_ms(0, 100));
    EXPECT_EQ(made_up_ms(100, 0), 0);
}

TEST(EvictionReport, has_a_row_for_every_trace_policy_and_size) {
    EvictionOptions options;
    options.cache_tokens = {8192, 65536};
    const auto result = run_eviction(options);
    ASSERT_TRUE(result) << result.error().message;
    const Report report = eviction_report(*result);
    EXPECT_EQ(report.csv.rows.size(), 3u * 4 * 2);
    for (const auto& row : report.csv.rows) EXPECT_EQ(row.size(), report.csv.columns.size());
    EXPECT_EQ(eviction_table(*result).rows.size(), 3u * 2);
    EXPECT_EQ(report.findings.size(), 3u);
}

}  // namespace
}  // namespace kvik::lab
