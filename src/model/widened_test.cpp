// A model made wider by dead weight computes what the narrow one does: four times the work, the same
// bits. No row, group or head takes anything from its neighbours.
#include <gtest/gtest.h>

#include <cstring>

#include "testing/model_rig.h"
#include "testing/widened_llama.h"

namespace kvik::testing {
namespace {

struct Widened : ::testing::TestWithParam<DType> {};

TEST_P(Widened, by_dead_weight_gives_the_narrow_models_bits) {
    TinyLlama narrow;
    narrow.dtype = GetParam();
    narrow.context_length = 512;
    if (dtype_info(narrow.dtype).group_size == 256)
        narrow.hidden_size = narrow.intermediate_size = 256;
    const std::vector<TokenId> tokens = random_tokens(300, narrow.vocab_size, 3);
    const std::vector<std::byte> bytes = tiny_llama(narrow).bytes();
    const auto read = GgufFile::from_bytes(bytes, "narrow");
    ASSERT_TRUE(read) << read.error().message;
    std::vector<float> want;
    {
        const TemporaryFile file(tiny_llama(narrow));
        want = Rig(file.path, {}).all(tokens, 300);
    }
    const TemporaryFile file(widened_llama(narrow, *read));
    for (const uint32_t chunk : {300u, 5u}) {
        const std::vector<float> got = Rig(file.path, {.n_threads = 2}).all(tokens, chunk);
        ASSERT_EQ(got.size(), want.size());
        EXPECT_EQ(0, std::memcmp(got.data(), want.data(), 4 * got.size())) << chunk;
    }
}

INSTANTIATE_TEST_SUITE_P(Types, Widened,
                         ::testing::Values(DType::f32, DType::q4_0, DType::q4_1, DType::q5_1,
                                           DType::q8_0, DType::q4_k, DType::q6_k),
                         [](const auto& test) { return std::string(dtype_info(test.param).name); });

}  // namespace
}  // namespace kvik::testing
