// The same bits whichever way: a row's logits depend on its own tokens and on nothing else.
#include "model/transformer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "formats/gguf.h"
#include "testing/model_rig.h"

namespace kvik::testing {
namespace {

constexpr uint32_t kTokens = 600;  // three chunks of attention, many panels

struct Way : ::testing::TestWithParam<DType> {
    TinyLlama shape = [this] {
        TinyLlama s;
        s.dtype = GetParam();
        if (dtype_info(s.dtype).group_size == 256) {
            s.hidden_size = 256;
            s.intermediate_size = 512;
        }
        s.context_length = 1024;
        return s;
    }();
    TemporaryFile file{tiny_llama(shape)};
    std::vector<TokenId> tokens = random_tokens(kTokens, shape.vocab_size, 5);
    std::vector<float> want = Rig(file.path, {}).all(tokens, kTokens > 512 ? 512 : kTokens);

    void expect_same(const RigOptions& options, uint32_t chunk) {
        const std::vector<float> got = Rig(file.path, options).all(tokens, chunk);
        ASSERT_EQ(got.size(), want.size());
        EXPECT_EQ(0, std::memcmp(got.data(), want.data(), 4 * got.size()));
    }
};

INSTANTIATE_TEST_SUITE_P(Types, Way,
                         ::testing::Values(DType::f32, DType::f16, DType::q4_0, DType::q4_1,
                                           DType::q5_0, DType::q5_1, DType::q8_0, DType::iq4_nl,
                                           DType::q4_k, DType::q6_k),
                         [](const auto& test) { return std::string(dtype_info(test.param).name); });

TEST_P(Way, chunking_changes_no_bit) {
    for (const uint32_t chunk : {1u, 7u, 12u, 13u, 33u, 255u, 256u, 257u}) expect_same({}, chunk);
}

TEST_P(Way, threads_change_no_bit) {
    for (const uint32_t n : {2u, 3u, 5u}) {
        RigOptions options;
        options.n_threads = n;
        expect_same(options, 100);
        expect_same(options, 1);
    }
}

TEST_P(Way, instruction_sets_change_no_bit) {
    for (const KernelTable* kernels : runnable_kernels()) {
        RigOptions options;
        options.kernels = kernels;
        expect_same(options, 128);
    }
}

TEST_P(Way, block_ids_and_block_sizes_change_no_bit) {
    for (const uint32_t size : {16u, 32u, 64u}) {
        RigOptions options;
        options.block_tokens = size;
        options.block_seed = size;
        expect_same(options, 50);
    }
}

TEST_P(Way, neighbours_in_the_batch_change_no_bit) {
    Rig rig(file.path, {}, 8);
    // Sequence 0 goes in steps of 25 rows among seven others of other lengths and pasts.
    std::vector<float> got;
    std::vector<uint32_t> past(8, 0);
    for (uint32_t at = 0; at < kTokens; at += 25) {
        std::vector<Rig::Piece> pieces;
        for (uint32_t s = 0; s < 8; ++s) {
            const uint32_t n = s == 3 ? 25 : 1 + (s * 7 + at) % 20;
            const uint32_t sequence = s == 3 ? 0 : s == 0 ? 3 : s;
            std::vector<TokenId> piece =
                s == 3 ? std::vector<TokenId>(tokens.begin() + at, tokens.begin() + at + 25)
                       : random_tokens(n, shape.vocab_size, at * 8 + s);
            pieces.push_back({sequence, past[sequence], std::move(piece)});
            past[sequence] += n;
        }
        const auto logits = rig.step(pieces);
        ASSERT_TRUE(logits.has_value());
        size_t first = 0;
        for (uint32_t s = 0; s < 3; ++s) first += pieces[s].tokens.size();
        const auto begin = logits->begin() + static_cast<ptrdiff_t>(first * shape.vocab_size);
        got.insert(got.end(), begin, begin + 25 * static_cast<ptrdiff_t>(shape.vocab_size));
    }
    ASSERT_EQ(got.size(), want.size());
    EXPECT_EQ(0, std::memcmp(got.data(), want.data(), 4 * got.size()));
}

TEST_P(Way, the_tokens_do_change_the_bits) {
    tokens[10] = (tokens[10] + 1) % static_cast<TokenId>(shape.vocab_size);
    const std::vector<float> got = Rig(file.path, {}).all(tokens, 512);
    const size_t before = 10 * shape.vocab_size;
    EXPECT_EQ(0, std::memcmp(got.data(), want.data(), 4 * before));
    EXPECT_NE(0, std::memcmp(&got.back() - shape.vocab_size, &want.back() - shape.vocab_size,
                             4 * shape.vocab_size));
}

TEST(Transformer, heads_of_every_group_and_size_agree_across_instruction_sets_and_chunks) {
    struct Heads {
        uint32_t hidden, n_heads, n_kv_heads;
    };
    for (const Heads heads : {Heads{96, 2, 1}, Heads{512, 32, 2}, Heads{256, 1, 1},
                              Heads{320, 4, 4}, Heads{416, 26, 2}}) {
        TinyLlama shape;
        shape.hidden_size = heads.hidden;
        shape.n_heads = heads.n_heads;
        shape.n_kv_heads = heads.n_kv_heads;
        shape.head = TinyHead::own;
        shape.context_length = 512;
        const TemporaryFile file(tiny_llama(shape));
        const std::vector<TokenId> tokens = random_tokens(290, shape.vocab_size, heads.hidden);
        const std::vector<float> want = Rig(file.path, {}).all(tokens, 290);
        for (const KernelTable* kernels : runnable_kernels()) {
            RigOptions options;
            options.kernels = kernels;
            options.n_threads = 2;
            const std::vector<float> got = Rig(file.path, options).all(tokens, 9);
            EXPECT_EQ(0, std::memcmp(got.data(), want.data(), 4 * got.size()))
                << kernels->name << " " << heads.n_heads << " heads";
        }
    }
}

TEST(Transformer, a_weight_that_is_not_a_number_is_an_error_that_names_the_layer) {
    TinyLlama shape;
    shape.n_layers = 3;
    shape.dtype = DType::f32;
    GgufWriter writer = tiny_llama(shape);
    const auto file = GgufFile::from_bytes(writer.bytes(), "good");
    ASSERT_TRUE(file.has_value());
    std::vector<std::byte> bytes = writer.bytes();
    const TensorEntry* norm = file->find("blk.1.ffn_norm.weight");
    ASSERT_NE(norm, nullptr);
    const float infinity = std::numeric_limits<float>::infinity();
    std::memcpy(bytes.data() + norm->offset + 4, &infinity, 4);
    const TemporaryFile path(writer);
    std::FILE* out = std::fopen(path.path.c_str(), "wb");
    ASSERT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), out), bytes.size());
    std::fclose(out);
    for (const uint32_t n : {1u, 40u}) {
        const auto logits =
            Rig(path.path, {}).step({{0, 0, random_tokens(n, shape.vocab_size, 1)}});
        ASSERT_FALSE(logits.has_value());
        EXPECT_NE(logits.error().message.find("layer 1 of 3"), std::string::npos)
            << logits.error().message;
    }
}

}  // namespace
}  // namespace kvik::testing
