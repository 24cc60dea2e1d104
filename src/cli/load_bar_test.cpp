#include "cli/load_bar.h"

#include <gtest/gtest.h>

namespace kvik::cli {
namespace {

TEST(LoadBar, shows_share_and_speed) {
    EXPECT_EQ(load_line({512u << 20, 1024u << 20, 2}),
              "loading [============            ]  50 %  256 MiB/s");
}

TEST(LoadBar, begins_and_ends_without_dividing_by_nothing) {
    EXPECT_EQ(load_line({0, 100, 0}), "loading [                        ]   0 %  0 MiB/s");
    EXPECT_EQ(load_line({0, 0, 1}), "loading [========================] 100 %  0 MiB/s");
}

}  // namespace
}  // namespace kvik::cli
