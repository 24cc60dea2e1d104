#include "cli/check_tensors.h"

#include <gtest/gtest.h>

#include <cmath>

#include "formats/gguf.h"
#include "testing/gguf_writer.h"

namespace kvik::cli {
namespace {

TensorCheck checked(const GgufWriter& writer, uint32_t n_threads = 2) {
    const auto bytes = writer.bytes();
    const auto file = GgufFile::from_bytes(bytes, "made up");
    EXPECT_TRUE(file) << file.error().message;
    ThreadPool pool(n_threads);
    return *check_tensors(*file, pool, nullptr);
}

TEST(CheckTensors, finds_nothing_in_numbers_of_every_type) {
    GgufWriter writer;
    for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::q4_1, DType::q6_k})
        writer.random_tensor(std::string(dtype_info(type).name), type, {3, 512}, 1);
    const TensorCheck check = checked(writer);
    EXPECT_EQ(check.n_tensors, 5u);
    EXPECT_TRUE(check.damaged.empty());
    EXPECT_TRUE(check.all_zero.empty());
}

TEST(CheckTensors, finds_the_first_number_that_is_none_however_far_it_is) {
    std::vector<float> values(700000, 1.0f);
    values[600001] = NAN;
    values[600005] = INFINITY;
    GgufWriter writer;
    writer.f32_tensor("good", {2}, std::vector<float>{1, 2});
    writer.f32_tensor("bad", {700000}, values);
    const TensorCheck check = checked(writer);
    ASSERT_EQ(check.damaged.size(), 1u);
    EXPECT_EQ(check.damaged[0].name, "bad");
    EXPECT_EQ(check.damaged[0].first_index, 600001u);
    EXPECT_EQ(check.damaged[0].n_not_finite, 2u);
}

TEST(CheckTensors, names_what_is_zero_throughout) {
    GgufWriter writer;
    writer.f32_tensor("zero", {3}, std::vector<float>{0, 0, 0});
    writer.f32_tensor("nearly", {3}, std::vector<float>{0, 0, 1});
    EXPECT_EQ(checked(writer).all_zero, std::vector<std::string>{"zero"});
}

TEST(CheckTensors, a_file_whose_matrices_are_all_zero_is_not_sound) {
    const std::vector<float> zeros(4, 0.0f), ones(4, 1.0f);
    GgufWriter norms;
    norms.f32_tensor("norm", {4}, zeros);
    EXPECT_TRUE(checked(norms).is_sound()) << "biases may be zero";
    norms.f32_tensor("a", {2, 2}, zeros).f32_tensor("b", {1, 4}, zeros).f32_tensor("c", {4}, ones);
    EXPECT_TRUE(checked(norms).is_empty());
    EXPECT_FALSE(checked(norms).is_sound());
    norms.f32_tensor("d", {2, 2}, ones);
    EXPECT_FALSE(checked(norms).is_empty());
    EXPECT_TRUE(checked(norms).is_sound()) << "a matrix may be zero, as one made to be learned";
}

TEST(CheckTensors, the_digest_is_that_of_the_contents_on_any_number_of_threads) {
    const auto writer = [](const char* name, uint64_t seed) {
        GgufWriter w;
        w.random_tensor(name, DType::q8_0, {64, 1024}, seed);
        return w;
    };
    const std::string digest = checked(writer("a", 1), 1).digest;
    EXPECT_EQ(checked(writer("a", 1), 3).digest, digest);
    EXPECT_NE(checked(writer("a", 2), 1).digest, digest);
    EXPECT_NE(checked(writer("b", 1), 1).digest, digest);
}

}  // namespace
}  // namespace kvik::cli
