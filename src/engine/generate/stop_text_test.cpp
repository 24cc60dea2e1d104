#include <gtest/gtest.h>

#include <random>

#include "engine/generate/answer.h"

namespace kvik {
namespace {

TEST(StopText, cuts_at_a_stop_string_that_comes_in_pieces) {
    StopText stop({"STOP"});
    EXPECT_EQ(stop.push("one S"), "one ");
    EXPECT_EQ(stop.push("T"), "");
    EXPECT_EQ(stop.push("OP two"), "");
    EXPECT_TRUE(stop.hit());
    EXPECT_EQ(stop.finish(), "");
    EXPECT_EQ(stop.n_certain_bytes(), 4u);
}

TEST(StopText, gives_back_what_it_held_for_a_stop_string_that_did_not_come) {
    StopText stop({"STOP"});
    EXPECT_EQ(stop.push("STO"), "");
    EXPECT_EQ(stop.push("NE ST"), "STONE ");
    EXPECT_EQ(stop.finish(), "ST");
    EXPECT_FALSE(stop.hit());
}

TEST(StopText, sees_a_stop_string_that_begins_inside_a_false_start) {
    StopText stop({"aab"});
    std::string text;
    for (const char* piece : {"a", "a", "a", "b"}) text += stop.push(piece);
    EXPECT_EQ(text, "a");
    EXPECT_TRUE(stop.hit());
}

TEST(StopText, lets_the_longer_of_two_that_end_together_win) {
    StopText stop({"c", "abc"});
    EXPECT_EQ(stop.push("xabc"), "x");
}

// A character at a time, the naive way: stop at the first end of any stop string.
std::string naive(const std::string& text, const std::vector<std::string>& stops) {
    for (size_t n = 1; n <= text.size(); ++n) {
        const std::string_view seen(text.data(), n);
        size_t longest = 0;
        for (const std::string& stop : stops) {
            if (seen.ends_with(stop)) longest = std::max(longest, stop.size());
        }
        if (longest > 0) return text.substr(0, n - longest);
    }
    return text;
}

TEST(StopText, gives_the_same_text_however_it_is_cut_into_pushes) {
    std::mt19937 generator(5);
    auto below = [&](uint32_t n) { return static_cast<uint32_t>(generator()) % n; };
    auto word = [&](uint32_t n) {
        std::string w;
        for (uint32_t i = 0; i < n; ++i) w += static_cast<char>('a' + below(3));
        return w;
    };
    for (int round = 0; round < 5000; ++round) {
        const std::string text = word(below(30));
        std::vector<std::string> stops(1 + below(3));
        for (std::string& stop : stops) stop = word(2 + below(4));
        StopText stop(stops);
        std::string got;
        for (size_t at = 0; at < text.size();) {
            const std::string piece = text.substr(at, below(5));
            got += stop.push(piece);
            at += piece.size();
        }
        got += stop.finish();
        ASSERT_EQ(got, naive(text, stops)) << "seed 5, round " << round << ", text " << text;
    }
}

}  // namespace
}  // namespace kvik
