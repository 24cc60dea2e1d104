#include "cli/pull_model.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

TEST(FetchRate, is_that_of_the_last_seconds) {
    FetchRate rate;
    EXPECT_EQ(rate.bytes_per_s(), 0);
    for (int i = 0; i <= 1000; ++i) rate.add(i * 0.01, static_cast<uint64_t>(i) * 10);
    EXPECT_NEAR(rate.bytes_per_s(), 1000, 50);  // samples are a tenth of a second apart
    for (int i = 1; i <= 1000; ++i)
        rate.add(10 + i * 0.01, 10'000 + static_cast<uint64_t>(i) * 100);
    EXPECT_NEAR(rate.bytes_per_s(), 10'000, 500);
}

TEST(ProgressText, says_how_far_how_fast_and_how_long) {
    hub::PullProgress progress{
        .file = "m.gguf", .done_bytes = 1'200'000'000, .total_bytes = 2'400'000'000};
    EXPECT_EQ(progress_text(progress, 0), "m.gguf  50 %  1.20 of 2.40 GB");
    EXPECT_EQ(progress_text(progress, 2e7), "m.gguf  50 %  1.20 of 2.40 GB  20.0 MB/s  60 s left");
    EXPECT_EQ(progress_text(progress, 2e6), "m.gguf  50 %  1.20 of 2.40 GB  2.0 MB/s  10 min left");
    EXPECT_EQ(progress_text(progress, 1e5), "m.gguf  50 %  1.20 of 2.40 GB  0.1 MB/s  3 h left");
    progress.is_check = true;
    progress.file = "m\x1b.gguf";
    EXPECT_EQ(progress_text(progress, 1e5),
              "reading the part that is here, m\\x1b.gguf  50 %  1.20 of 2.40 GB");
}

TEST(ProgressText, a_narrow_terminal_gets_a_shorter_line) {
    const hub::PullProgress progress{
        .file = "a-model.gguf", .done_bytes = 1'200'000'000, .total_bytes = 2'400'000'000};
    EXPECT_EQ(progress_text(progress, 2e7, 39), "a-model.gguf  50 %  60 s left");
    EXPECT_EQ(progress_text(progress, 2e7, 16), "50 %  60 s left");
    EXPECT_EQ(progress_text(progress, 2e7, 5), "50 %");
}

}  // namespace
}  // namespace kvik::cli
