// expect_same: compares the beams of two searches to the bit.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "kvik/kvik.h"

namespace kvik {

inline void expect_same(const std::vector<Beam>& found, const std::vector<Beam>& right) {
    ASSERT_EQ(found.size(), right.size());
    for (size_t i = 0; i < right.size(); ++i) {
        SCOPED_TRACE(::testing::Message() << "beam " << i);
        EXPECT_EQ(found[i].ids, right[i].ids);
        EXPECT_EQ(found[i].logprobs, right[i].logprobs);
        EXPECT_EQ(found[i].score, right[i].score);
        EXPECT_EQ(found[i].sum_logprob, right[i].sum_logprob);
        EXPECT_EQ(found[i].reason, right[i].reason);
        EXPECT_EQ(found[i].logits_sha256, right[i].logits_sha256);
    }
}

}  // namespace kvik
