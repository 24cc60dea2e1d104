// Loading says what is wrong with a file's tensors, by name.
#include "model/load.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "testing/model_rig.h"

namespace kvik::testing {
namespace {

TEST(Load, a_tensor_that_nothing_reads_is_refused_by_name) {
    GgufWriter writer = tiny_llama({});
    writer.random_tensor("blk.0.attn_q.lora_a", DType::f32, {64}, 1);
    const TemporaryFile file(writer);
    ThreadPool pool(1);
    const auto loaded = load_model({file.path, &kScalarKernels, Act::int8, &pool, {}});
    ASSERT_FALSE(loaded.has_value());
    EXPECT_EQ(loaded.error().kind, ErrorKind::unsupported);
    EXPECT_NE(loaded.error().message.find("'blk.0.attn_q.lora_a' [64]"), std::string::npos);
}

TEST(Load, a_file_that_is_cut_while_it_loads_is_an_error) {
    const TemporaryFile file(tiny_llama({}));
    ThreadPool pool(1);
    const auto cut = [&](uint64_t, uint64_t) { std::filesystem::resize_file(file.path, 4096); };
    const auto loaded = load_model({file.path, &kScalarKernels, Act::int8, &pool, cut});
    ASSERT_FALSE(loaded.has_value());
    EXPECT_EQ(loaded.error().kind, ErrorKind::file);
    EXPECT_NE(loaded.error().message.find("was cut while it was read"), std::string::npos)
        << loaded.error().message;
}

TEST(Load, a_missing_or_misshapen_tensor_is_named_with_the_shape_that_is_needed) {
    struct Case {
        const char* name;
        std::vector<uint64_t> dims;
        const char* words;
    };
    for (const Case& c : {Case{"blk.1.ffn_up", {96, 32}, "has shape [96, 32]"},
                          Case{"blk.1.ffn_up", {32, 64}, "ask for [96, 64]"}}) {
        TinyLlama shape;
        shape.without = "blk.1.ffn_up.weight";
        GgufWriter bad = tiny_llama(shape);
        {
            const TemporaryFile path(bad);
            ThreadPool pool(1);
            const auto loaded = load_model({path.path, &kScalarKernels, Act::int8, &pool, {}});
            ASSERT_FALSE(loaded.has_value());
            EXPECT_NE(loaded.error().message.find("'blk.1.ffn_up.weight' [96, 64] is missing"),
                      std::string::npos);
        }
        bad.random_tensor(std::string(c.name) + ".weight", DType::q8_0, c.dims, 3);
        const TemporaryFile path(bad);
        ThreadPool pool(1);
        const auto loaded = load_model({path.path, &kScalarKernels, Act::int8, &pool, {}});
        ASSERT_FALSE(loaded.has_value());
        EXPECT_EQ(loaded.error().kind, ErrorKind::file);
        EXPECT_NE(loaded.error().message.find(c.words), std::string::npos)
            << loaded.error().message;
    }
}

TEST(Load, reports_progress_up_to_all_bytes_and_never_backwards) {
    const TemporaryFile file(tiny_llama({}));
    ThreadPool pool(2);
    uint64_t last = 0, whole = 0;
    const auto loaded = load_model(
        {file.path, &kScalarKernels, Act::int8, &pool, [&](uint64_t done, uint64_t total) {
             EXPECT_GE(done, last);
             last = done;
             whole = total;
         }});
    ASSERT_TRUE(loaded.has_value());
    EXPECT_EQ(last, whole);
    EXPECT_GT(whole, 0u);
}

TEST(Load, one_changed_byte_of_one_tensor_changes_the_fingerprint) {
    const TemporaryFile file(tiny_llama({}));
    ThreadPool pool(1);
    const auto fingerprint = [&](Act act) {
        return load_model({file.path, &kScalarKernels, act, &pool, {}})->model->spec().fingerprint;
    };
    const std::string before = fingerprint(Act::int8);
    EXPECT_EQ(before, fingerprint(Act::int8));
    EXPECT_NE(before, fingerprint(Act::f32));
    std::FILE* out = std::fopen(file.path.c_str(), "r+b");
    std::fseek(out, -1, SEEK_END);
    const int byte = std::fgetc(out);
    std::fseek(out, -1, SEEK_END);
    std::fputc(byte ^ 1, out);
    std::fclose(out);
    EXPECT_NE(before, fingerprint(Act::int8));
}

}  // namespace
}  // namespace kvik::testing
