#include "cli/local_time.h"

#include <gtest/gtest.h>

#include <ctime>

namespace kvik::cli {
namespace {

TEST(LocalTime, is_what_the_user_s_clock_shows) {
    const auto now = local_now();
    ASSERT_TRUE(now);
    const auto day = std::chrono::floor<std::chrono::days>(*now);
    const std::chrono::year_month_day date(day);
    const std::time_t time = std::time(nullptr);
    std::tm fields{};
    ASSERT_NE(::localtime_r(&time, &fields), nullptr);
    // Midnight may pass between the two; never more than a day.
    const std::chrono::year_month_day shown{
        std::chrono::year(fields.tm_year + 1900), std::chrono::month(fields.tm_mon + 1u),
        std::chrono::day(static_cast<unsigned>(fields.tm_mday))};
    EXPECT_LE(std::chrono::local_days(shown) - std::chrono::local_days(date), std::chrono::days(1));
    EXPECT_GE(std::chrono::local_days(shown), std::chrono::local_days(date));
}

}  // namespace
}  // namespace kvik::cli
