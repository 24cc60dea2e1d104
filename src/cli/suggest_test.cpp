#include "cli/suggest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace kvik::cli {
namespace {

// The definition, by recursion.
uint32_t naive_distance(std::string_view a, std::string_view b) {
    if (a.empty() || b.empty()) return static_cast<uint32_t>(a.size() + b.size());
    const std::string_view a1 = a.substr(1), b1 = b.substr(1);
    uint32_t best = std::min({naive_distance(a1, b) + 1, naive_distance(a, b1) + 1,
                              naive_distance(a1, b1) + (a[0] == b[0] ? 0u : 1u)});
    if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0])
        best = std::min(best, naive_distance(a.substr(2), b.substr(2)) + 1);
    return best;
}

TEST(Suggest, distance_agrees_with_its_recursive_definition) {
    std::mt19937 random(1);
    const auto word = [&] {
        std::string w(random() % 7, ' ');
        for (char& c : w) c = static_cast<char>('a' + random() % 3);
        return w;
    };
    for (int i = 0; i < 300; ++i) {
        const std::string a = word(), b = word();
        ASSERT_EQ(edit_distance(a, b), naive_distance(a, b)) << a << " " << b << ", seed 1";
    }
}

const std::vector<std::string> kKnown = {"--temp", "--threads", "--top-k", "--top-p", "-n"};

TEST(Suggest, names_the_flag_that_was_meant) {
    EXPECT_EQ(nearest("--thread", kKnown), "--threads");
    EXPECT_EQ(nearest("--tmep", kKnown), "--temp");
    EXPECT_EQ(nearest("--topk", kKnown), "--top-k");
}

TEST(Suggest, names_a_flag_that_begins_the_word_or_goes_on_from_it) {
    EXPECT_EQ(nearest("--temperature", kKnown), "--temp");
    EXPECT_EQ(nearest("--thr", kKnown), "--threads");
    EXPECT_EQ(nearest("-nothing", kKnown), std::nullopt) << "-n has one letter";
    EXPECT_EQ(nearest("", kKnown), std::nullopt);
}

TEST(Suggest, is_silent_when_nothing_is_near) {
    EXPECT_EQ(nearest("--frobnicate", kKnown), std::nullopt);
    EXPECT_EQ(nearest("--text", kKnown), std::nullopt) << "two edits away, but four letters long";
}

}  // namespace
}  // namespace kvik::cli
