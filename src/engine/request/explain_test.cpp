#include "engine/request/explain.h"

#include <gtest/gtest.h>

#include "support/requests.h"
#include "support/toy_tokenizer.h"

namespace kvik {
namespace {

using Segments = std::vector<KvSegment>;

KvSegment segment(uint32_t n_tokens, KvSource source, KvReason reason) {
    return {.n_tokens = n_tokens, .source = source, .reason = reason};
}

constexpr KvSource kRam = KvSource::ram, kDisk = KvSource::disk, kComputed = KvSource::computed;

class ExplainTest : public ::testing::Test {
  protected:
    PromptFacts facts(uint32_t n_prompt) {
        prompt_.assign(n_prompt, 1);
        PromptFacts facts;
        facts.prompt = prompt_;
        return facts;
    }
    std::vector<TokenId> prompt_;
};

TEST_F(ExplainTest, says_of_a_new_prompt_that_it_was_never_seen) {
    EXPECT_EQ(explain(facts(7), nullptr).segments,
              (Segments{segment(7, kComputed, KvReason::never_seen)}));
}

TEST_F(ExplainTest, says_where_each_part_of_what_was_found_lay) {
    PromptFacts f = facts(100);
    f.found = {{32, kRam}, {32, kDisk}, {32, kRam}};
    f.path = {.n_usable = 32, .n_resident = 32, .n_known = 96, .n_on_tier = 64};
    const KvReport report = explain(f, nullptr);
    EXPECT_EQ(
        report.segments,
        (Segments{segment(32, kRam, KvReason::hit), segment(32, kDisk, KvReason::hit),
                  segment(32, kRam, KvReason::hit), segment(4, kComputed, KvReason::never_seen)}));
    EXPECT_EQ(report.n_tokens(kRam), 64u);
    EXPECT_EQ(report.n_tokens(kDisk), 32u);
}

TEST_F(ExplainTest, names_the_first_difference_with_both_sides) {
    ToyTokenizer tokenizer({"a", "b", "c"});
    PromptFacts f = facts(6);
    prompt_ = {0, 0, 0, 1, 1, 1};
    f.prompt = prompt_;
    f.found = {{3, kRam}};
    f.path = {.n_usable = 3, .n_resident = 3, .n_known = 3};
    f.path.difference = Difference{.at = 3, .old_tokens = {2, 2}};
    const KvReport report = explain(f, &tokenizer);
    ASSERT_EQ(report.segments.size(), 2u);
    const KvSegment& rest = report.segments[1];
    EXPECT_EQ(rest.reason, KvReason::first_difference);
    EXPECT_EQ(rest.n_tokens, 3u);
    EXPECT_EQ(rest.old_text, "cc");
    EXPECT_EQ(rest.new_text, "bbb");
    EXPECT_EQ(rest.old_ids, (std::vector<TokenId>{2, 2}));
    EXPECT_EQ(rest.new_ids, (std::vector<TokenId>{1, 1, 1}));
}

TEST_F(ExplainTest, says_when_what_is_gone_was_evicted) {
    PromptFacts f = facts(100);
    f.found = {{32, kRam}};
    f.path = {.n_usable = 32, .n_resident = 32, .n_known = 96, .n_evicted = 64, .evicted_ms = 40};
    f.now_ms = 100;
    const KvReport report = explain(f, nullptr);
    ASSERT_EQ(report.segments.size(), 3u);
    EXPECT_EQ(report.segments[1].reason, KvReason::evicted);
    EXPECT_EQ(report.segments[1].n_tokens, 64u);
    EXPECT_EQ(report.segments[1].evicted_ms_ago, 60);
    EXPECT_EQ(report.segments[2], segment(4, kComputed, KvReason::never_seen));
}

TEST_F(ExplainTest, gives_the_distance_to_the_resume_point) {
    PromptFacts f = facts(100);
    f.found = {{40, kRam}};
    f.path = {.n_usable = 40, .n_resident = 90, .n_known = 90};
    EXPECT_EQ(
        explain(f, nullptr).segments,
        (Segments{segment(40, kRam, KvReason::hit), segment(50, kComputed, KvReason::resume_point),
                  segment(10, kComputed, KvReason::never_seen)}));
}

TEST_F(ExplainTest, says_that_only_the_last_logits_were_missing) {
    PromptFacts f = facts(100);
    f.found = {{99, kRam}};
    f.path = {.n_usable = 100, .n_resident = 100, .n_known = 100};
    f.lacks_logits = true;
    EXPECT_EQ(
        explain(f, nullptr).segments,
        (Segments{segment(99, kRam, KvReason::hit), segment(1, kComputed, KvReason::last_token)}));
}

TEST_F(ExplainTest, tells_a_salted_request_what_it_would_have_shared) {
    PromptFacts f = facts(100);
    f.n_without_salt = 60;
    EXPECT_EQ(explain(f, nullptr).segments,
              (Segments{segment(60, kComputed, KvReason::salt),
                        segment(40, kComputed, KvReason::never_seen)}));
}

TEST_F(ExplainTest, says_that_the_cache_was_off) {
    PromptFacts f = facts(100);
    f.cache = CachePolicy::off;
    EXPECT_EQ(explain(f, nullptr).segments,
              (Segments{segment(100, kComputed, KvReason::cache_off)}));
}

TEST_F(ExplainTest, speaks_of_every_token_whatever_the_facts) {
    Random random(3);
    for (int round = 0; round < 2000; ++round) {
        PromptFacts f = facts(1 + random.below(40));
        const auto n = static_cast<uint32_t>(f.prompt.size());
        for (uint32_t i = random.below(4); i > 0; --i)
            f.found.push_back({random.below(20), random.below(2) ? kRam : kDisk});
        f.path.n_resident = random.below(60);
        f.path.n_known = random.below(60);
        f.n_without_salt = random.below(60);
        f.lacks_logits = random.below(5) == 0;
        if (random.below(2))
            f.path.difference = Difference{.at = random.below(n), .old_tokens = {}};
        uint32_t sum = 0;
        for (const KvSegment& s : explain(f, nullptr).segments) {
            EXPECT_GT(s.n_tokens, 0u);
            sum += s.n_tokens;
        }
        ASSERT_EQ(sum, n);
    }
}

}  // namespace
}  // namespace kvik
