#include "base/philox.h"

#include <gtest/gtest.h>

namespace kvik {
namespace {

using Four = std::array<uint32_t, 4>;

}  // namespace

// The known answers that Random123 publishes for philox4x32 with ten rounds.
TEST(Philox, gives_the_published_answers) {
    constexpr uint32_t kOnes = 0xffffffffu;
    EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
              (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
              (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(
        philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
        (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, changes_with_every_word_of_counter_and_key) {
    const Four plain = philox4x32({1, 2, 3, 4}, {5, 6});
    for (size_t i = 0; i < 4; ++i) {
        Four counter = {1, 2, 3, 4};
        counter[i] ^= 0x80000000u;
        EXPECT_NE(philox4x32(counter, {5, 6}), plain) << "counter " << i;
    }
    EXPECT_NE(philox4x32({1, 2, 3, 4}, {0x80000005u, 6}), plain);
    EXPECT_NE(philox4x32({1, 2, 3, 4}, {5, 0x80000006u}), plain);
}

}  // namespace kvik
