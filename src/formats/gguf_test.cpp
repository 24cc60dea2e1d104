#include "formats/gguf.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "testing/expect_error.h"
#include "testing/gguf_samples.h"

namespace kvik {
namespace {

// A file in the temporary folder, gone with its scope.
struct TempFile {
    explicit TempFile(const GgufWriter& writer)
        : path(testing::TempDir() + "kvik_gguf_test_" +
               testing::UnitTest::GetInstance()->current_test_info()->name() + ".gguf") {
        EXPECT_TRUE(writer.write(path));
    }
    ~TempFile() { std::filesystem::remove(path); }
    std::string path;
};

TEST(GgufFile, reads_versions_2_and_3) {
    for (const uint32_t version : {2u, 3u}) {
        const auto bytes = GgufWriter(version).set("k", uint32_t{5}).bytes();
        const Result<GgufFile> file = GgufFile::from_bytes(bytes, "f");
        ASSERT_TRUE(file) << file.error().message;
        EXPECT_EQ(file->version(), version);
        EXPECT_EQ(file->metadata().require_integer("k", {}), 5u);
    }
}

TEST(GgufFile, every_sample_is_valid) {
    for (const GgufSample& sample : gguf_samples()) {
        const Result<GgufFile> file = GgufFile::from_bytes(sample.bytes, sample.name);
        EXPECT_TRUE(file) << file.error().message;
    }
}

TEST(GgufFile, a_tensor_has_its_shape_row_major_and_its_own_bytes) {
    const std::array<float, 6> values = {0, 1, 2, 3, 4, 5};
    GgufWriter w;
    w.random_tensor("first", DType::q8_0, {3, 32}, 1);
    w.f32_tensor("second", {2, 3}, values);
    const auto bytes = w.bytes();
    const Result<GgufFile> file = GgufFile::from_bytes(bytes, "f");
    ASSERT_TRUE(file) << file.error().message;

    const TensorEntry* entry = file->find("second");
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry, &file->tensors()[1]);
    const TensorView view = file->view(*entry);
    EXPECT_EQ(view.dtype, DType::f32);
    EXPECT_EQ(view.shape.n_dims, 2u);
    EXPECT_EQ(view.shape.n_rows(), 2u);
    EXPECT_EQ(view.shape.n_cols(), 3u);
    ASSERT_EQ(view.bytes.size(), sizeof values);
    EXPECT_EQ(std::memcmp(view.data(), values.data(), sizeof values), 0);
    EXPECT_EQ(file->find("first")->n_bytes, 3u * 34);
    EXPECT_EQ(file->find("third"), nullptr);
}

TEST(GgufFile, tensor_data_begins_at_the_files_own_alignment) {
    for (const uint32_t alignment : {8u, 32u, 4096u}) {
        GgufWriter w;
        w.alignment = alignment;
        w.set("general.alignment", alignment);
        w.random_tensor("a", DType::f32, {3}, 1).random_tensor("b", DType::f32, {3}, 2);
        const auto bytes = w.bytes();
        const Result<GgufFile> file = GgufFile::from_bytes(bytes, "f");
        ASSERT_TRUE(file) << file.error().message;
        EXPECT_EQ(file->alignment(), alignment);
        for (const TensorEntry& entry : file->tensors()) EXPECT_EQ(entry.offset % alignment, 0u);
        EXPECT_EQ(file->find("b")->offset + 12, bytes.size());
    }
}

TEST(GgufFile, a_file_may_have_metadata_alone) {
    const auto bytes = GgufWriter().set("k", "v").bytes();
    const Result<GgufFile> file = GgufFile::from_bytes(bytes, "f");
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_TRUE(file->tensors().empty());
}

TEST(GgufFile, tensors_may_lie_in_any_order_with_gaps) {
    GgufWriter w;
    w.tensor({"late", 0, {2}, std::vector<std::byte>(64), 64});
    w.tensor({"early", 0, {2}, std::vector<std::byte>(64), 0});
    const auto bytes = w.bytes();
    const Result<GgufFile> file = GgufFile::from_bytes(bytes, "f");
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->find("late")->offset, file->find("early")->offset + 64);
}

TEST(GgufFile, opened_from_disk_is_the_same_as_from_bytes_and_survives_a_move) {
    const TempFile temp(sample_llama());
    const auto bytes = sample_llama().bytes();
    Result<GgufFile> opened = GgufFile::open(temp.path);
    ASSERT_TRUE(opened) << opened.error().message;
    const GgufFile file = std::move(*opened);
    EXPECT_EQ(file.n_bytes(), bytes.size());
    EXPECT_EQ(file.metadata().require_string("general.name"), "tiny");
    const TensorView view = file.view(file.tensors()[0]);
    EXPECT_EQ(std::memcmp(view.data(), bytes.data() + bytes.size() - view.bytes.size(),
                          view.bytes.size()),
              0);
}

TEST(GgufFile, reads_pieces_of_a_tensor_from_a_file_and_from_bytes) {
    GgufWriter w;
    w.random_tensor("big", DType::f32, {64, 1024}, 1);
    const TempFile temp(w);
    const Result<GgufFile> file = GgufFile::open(temp.path);
    ASSERT_TRUE(file) << file.error().message;
    const std::vector<std::byte> bytes = w.bytes();
    const Result<GgufFile> in_memory = GgufFile::from_bytes(bytes, "m.gguf");
    for (const GgufFile* one : {&*file, &*in_memory}) {
        const TensorEntry& entry = one->tensors()[0];
        std::vector<std::byte> piece(10000);
        ASSERT_TRUE(one->read(entry, 77, piece));
        EXPECT_EQ(std::memcmp(piece.data(), one->view(entry).bytes.data() + 77, piece.size()), 0);
    }
}

TEST(GgufFile, a_file_that_is_not_there_is_named) {
    expect_refused(GgufFile::open("/nowhere/model.gguf"), ErrorKind::file, {"/nowhere/model.gguf"});
}

}  // namespace
}  // namespace kvik
