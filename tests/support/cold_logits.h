// oracle, expect_same and expect_cold: what a model that knows its cold logits
// (testing/hash_model.h) must answer, compared with what a stream delivered.
#pragma once

#include <gtest/gtest.h>

#include <concepts>

#include "support/requests.h"
#include "support/step_rig.h"

namespace kvik {

template <class Model>
concept KnowsColdLogits = requires(const Model& model, std::span<const TokenId> tokens) {
    { model.cold_logits(tokens) } -> std::same_as<std::vector<float>>;
};

inline Expected oracle(const KnowsColdLogits auto& model, const GenerateRequest& request) {
    return oracle([&](std::span<const TokenId> tokens) { return model.cold_logits(tokens); },
                  request);
}

inline void expect_same(const StreamResult& result, const Expected& expected) {
    EXPECT_FALSE(result.error.has_value());
    EXPECT_EQ(result.ids, expected.ids);
    EXPECT_EQ(result.summary.logits_sha256, expected.hash);
}

inline void expect_cold(const KnowsColdLogits auto& model, const StreamResult& result,
                        const GenerateRequest& request) {
    expect_same(result, oracle(model, request));
}

}  // namespace kvik
