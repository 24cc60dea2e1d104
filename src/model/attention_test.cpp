// How attention is dealt out changes no bit: who goes over a chunk together, and on which worker.
#include <gtest/gtest.h>

#include <cstring>

#include "testing/model_rig.h"

namespace kvik::testing {
namespace {

using Piece = Rig::Piece;

constexpr uint32_t kPrefix = 544, kVocab = 77;  // two chunks and two blocks

class SharedPrefixes : public ::testing::TestWithParam<KvType> {
  protected:
    TemporaryFile file{tiny_llama({})};
    std::vector<TokenId> prefix = random_tokens(kPrefix, kVocab, 1);

    // What a sequence adds to the prefix: 1, 5, 9, ... tokens, so that items differ in length.
    static std::vector<TokenId> tail(uint32_t sequence) {
        return random_tokens(1 + 4 * sequence, kVocab, 100 + sequence);
    }
    std::vector<float> alone(uint32_t sequence) const {
        Rig rig(file.path, {.kv = GetParam()});
        EXPECT_TRUE(rig.step({{0, 0, {prefix.begin(), prefix.begin() + 512}}}).has_value());
        EXPECT_TRUE(rig.step({{0, 512, {prefix.begin() + 512, prefix.end()}}}).has_value());
        return *rig.step({{0, kPrefix, tail(sequence)}});
    }
};

INSTANTIATE_TEST_SUITE_P(Kv, SharedPrefixes,
                         ::testing::Values(KvType::f16, KvType::f32, KvType::q8));

// Sequences 0, 2, 4, ... of the batch share their prefix, the others have their own.
TEST_P(SharedPrefixes, give_each_sequence_of_a_batch_the_bits_that_it_has_alone) {
    constexpr uint32_t kSequences = 7;
    for (const uint32_t n_threads : {1u, 2u, 3u}) {
        Rig rig(file.path, {.n_threads = n_threads, .kv = GetParam(), .block_seed = n_threads},
                kSequences);
        std::vector<Piece> batch;
        for (uint32_t s = 0; s < kSequences; ++s) {
            if (s % 2 == 0 && s > 0) {
                rig.share_prefix({.from = 0, .to = s, .n_tokens = kPrefix});
            } else {
                ASSERT_TRUE(rig.step({{s, 0, {prefix.begin(), prefix.begin() + 512}}}).has_value());
                ASSERT_TRUE(rig.step({{s, 512, {prefix.begin() + 512, prefix.end()}}}).has_value());
            }
            batch.push_back({s, kPrefix, tail(s)});
        }
        const std::vector<float> together = *rig.step(batch);
        const float* got = together.data();
        for (uint32_t s = 0; s < kSequences; ++s) {
            const std::vector<float> want = alone(s);
            EXPECT_EQ(0, std::memcmp(got, want.data(), 4 * want.size()))
                << "sequence " << s << " on " << n_threads << " threads";
            got += want.size();
        }
    }
}

// Up to eight items of a prompt go over a chunk together; beside a sequence that is still short.
TEST_P(SharedPrefixes, do_not_part_rows_that_go_over_a_chunk_together) {
    const std::vector<TokenId> more = random_tokens(130, kVocab, 9);
    Rig one(file.path, {.kv = GetParam()});
    std::vector<float> want;
    for (uint32_t i = 0; i < more.size(); ++i) {
        const std::vector<float> row = *one.step({{0, i, {more[i]}}});
        want.insert(want.end(), row.begin(), row.end());
    }
    for (const uint32_t n_threads : {1u, 2u}) {
        Rig rig(file.path, {.n_threads = n_threads, .kv = GetParam()}, 2);
        const std::vector<float> got = *rig.step({{0, 0, more}, {1, 0, {more[0]}}});
        EXPECT_EQ(0, std::memcmp(got.data(), want.data(), 4 * want.size())) << n_threads;
    }
}

}  // namespace
}  // namespace kvik::testing
