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

TEST(LoadBar, never_reaches_the_edge_of_a_narrow_terminal) {
    for (const uint32_t n_columns : {0u, 10u, 20u, 34u, 40u, 60u, 200u})
        EXPECT_LE(load_line({500u << 20, 1000u << 20, 0.001}, n_columns).size(), n_columns);
    EXPECT_EQ(load_line({512u << 20, 1024u << 20, 2}, 40), "loading [===   ]  50 %  256 MiB/s");
}

}  // namespace
}  // namespace kvik::cli
