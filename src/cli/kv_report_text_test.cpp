#include "cli/kv_report_text.h"

#include <gtest/gtest.h>

#include "cli/json.h"

namespace kvik::cli {
namespace {

KvReport some_report() {
    return {.segments = {{.n_tokens = 1000, .source = KvSource::ram, .reason = KvReason::hit},
                         {.n_tokens = 12,
                          .source = KvSource::computed,
                          .reason = KvReason::first_difference,
                          .old_ids = {4},
                          .new_ids = {5, 6},
                          .old_text = "Paris\x1b",
                          .new_text = "Berlin, the capital of Germany"}},
            .saved_ms = 345.6};
}

TEST(KvReportText, says_of_every_segment_where_it_came_from_and_why) {
    const std::vector<std::string> lines = describe_lines(some_report());
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[0], "  1000 tokens  from memory");
    EXPECT_EQ(lines[1],
              "    12 tokens  computed: at token 1000 the cache has \"Paris\\x1b\", this prompt "
              "\"Berlin, the capital of G...\"");
    EXPECT_EQ(lines[2], "       about 346 ms saved");
}

TEST(KvReportText, names_every_reason_in_words) {
    for (const KvReason reason :
         {KvReason::first_difference, KvReason::never_seen, KvReason::evicted,
          KvReason::resume_point, KvReason::last_token, KvReason::salt, KvReason::cache_off}) {
        KvReport report;
        report.segments = {{.n_tokens = 1, .source = KvSource::computed, .reason = reason}};
        const std::string line = describe_lines(report).at(0);
        EXPECT_EQ(line.find("     1 token   computed: "), 0u) << line;
        EXPECT_GT(line.size(), std::string("     1 token   computed: ").size()) << line;
    }
}

TEST(KvReportText, gives_programs_the_place_of_every_segment) {
    const Json json = describe(some_report());
    EXPECT_EQ(json["segments"][0]["at"], 0);
    EXPECT_EQ(json["segments"][1]["at"], 1000);
    EXPECT_EQ(json["segments"][1]["reason"], "first_difference");
    EXPECT_EQ(json["segments"][1]["new_ids"], Json::parse("[5,6]"));
    EXPECT_EQ(json["saved_ms"], 345.6);
}

}  // namespace
}  // namespace kvik::cli
