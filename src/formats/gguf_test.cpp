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

// A head is read in pieces that double: each tensor name and key lies somewhere around an end.
TEST(GgufFile, a_head_of_any_length_is_read_from_disk) {
    for (const size_t n_bytes : {(1u << 20) - 100, (1u << 20) - 40, 1u << 20, (3u << 20) + 1}) {
        GgufWriter w;
        w.set("long", std::string(n_bytes, 'x')).set("after", uint32_t{7});
        w.random_tensor("t", DType::f32, {3}, 1);
        const TempFile temp(w);
        const Result<GgufFile> file = GgufFile::open(temp.path);
        ASSERT_TRUE(file) << file.error().message;
        EXPECT_EQ(file->metadata().find("long")->bytes.size(), n_bytes);
        EXPECT_EQ(file->metadata().require_integer("after", {0, 9}), 7u);
        const auto bytes = w.bytes();
        std::vector<std::byte> read(12);
        ASSERT_TRUE(file->read(file->tensors()[0], 0, read));
        EXPECT_EQ(std::memcmp(read.data(), bytes.data() + bytes.size() - 12, 12), 0);
    }
}

// Another program cuts the file after it was opened and before its head was read.
TEST(GgufFile, a_head_that_is_cut_while_it_is_read_is_an_error) {
    const TempFile temp(sample_llama());
    auto file = WeightFile::open(temp.path);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE(file->head(8));
    std::filesystem::resize_file(temp.path, 16);
    expect_refused(file->head(1 << 20), ErrorKind::file,
                   {temp.path, "was cut while it was read", "fetch the file again"});
    std::vector<std::byte> to(8);
    expect_refused(file->read(100, to), ErrorKind::file, {temp.path, "was cut"});
}

struct TempFolder {
    std::string path = testing::TempDir() + "kvik_gguf_split_" + std::to_string(::getpid());
    TempFolder() { std::filesystem::create_directory(path); }
    ~TempFolder() { std::filesystem::remove_all(path); }
};

// Part i has tensors i.0 .. i.(i - 1), as splitters make a first part of metadata alone.
std::vector<std::string> write_parts(const std::string& folder, uint32_t n_parts) {
    std::vector<std::string> paths;
    for (uint32_t part = 0; part < n_parts; ++part) {
        GgufWriter w;
        if (part == 0) w.set("general.name", "split");
        w.set("split.no", static_cast<uint16_t>(part));
        w.set("split.count", static_cast<uint16_t>(n_parts));
        w.set("split.tensors.count", static_cast<int32_t>(n_parts * (n_parts - 1) / 2));
        for (uint32_t i = 0; i < part; ++i)
            w.random_tensor(std::to_string(part) + "." + std::to_string(i), DType::f32, {5},
                            10 * part + i);
        paths.push_back(folder + "/model-0000" + std::to_string(part + 1) + "-of-0000" +
                        std::to_string(n_parts) + ".gguf");
        EXPECT_TRUE(w.write(paths.back()));
    }
    return paths;
}

TEST(GgufFile, a_split_model_is_read_as_one_whichever_part_is_named) {
    const TempFolder folder;
    const std::vector<std::string> paths = write_parts(folder.path, 4);
    for (const std::string& named : paths) {
        SCOPED_TRACE(named);
        const Result<GgufFile> file = GgufFile::open(named);
        ASSERT_TRUE(file) << file.error().message;
        EXPECT_EQ(file->metadata().require_string("general.name"), "split");
        ASSERT_EQ(file->tensors().size(), 6u);
        uint64_t n_bytes = 0;
        for (const std::string& path : paths) n_bytes += std::filesystem::file_size(path);
        EXPECT_EQ(file->n_bytes(), n_bytes);
        for (const TensorEntry& entry : file->tensors()) {
            const uint32_t part = static_cast<uint32_t>(entry.name[0] - '0');
            EXPECT_EQ(file->file_of(entry), paths[part]);
            GgufWriter alone;
            alone.random_tensor("x", DType::f32, {5},
                                10 * part + static_cast<uint32_t>(entry.name[2] - '0'));
            const auto bytes = alone.bytes();
            std::vector<std::byte> read(20);
            ASSERT_TRUE(file->read(entry, 0, read));
            EXPECT_EQ(std::memcmp(read.data(), bytes.data() + bytes.size() - 20, 20), 0);
            EXPECT_EQ(file->find(entry.name), &entry);
        }
        const Result<GgufFile> first = GgufFile::open_first_part(named);
        ASSERT_TRUE(first) << first.error().message;
        EXPECT_EQ(first->metadata().require_string("general.name"), "split");
        EXPECT_TRUE(first->tensors().empty());
    }
}

TEST(GgufFile, a_part_that_is_missing_is_named) {
    const TempFolder folder;
    const std::vector<std::string> paths = write_parts(folder.path, 3);
    std::filesystem::remove(paths[2]);
    for (const std::string& named : {paths[0], paths[1]})
        expect_refused(GgufFile::open(named), ErrorKind::file,
                       {"cannot open " + paths[2], "part 3 of 3 of the split model", paths[0]});
    EXPECT_TRUE(GgufFile::open_first_part(paths[1]));
    std::filesystem::remove(paths[0]);
    expect_refused(GgufFile::open_first_part(paths[1]), ErrorKind::file,
                   {"cannot open " + paths[0], "part 1 of 3"});
}

TEST(GgufFile, a_split_of_one_is_a_file_of_any_name) {
    const TempFile temp(GgufWriter().set("split.no", uint16_t{0}).set("split.count", uint16_t{1}));
    EXPECT_TRUE(GgufFile::open(temp.path));
}

TEST(GgufFile, a_file_that_is_not_there_is_named) {
    expect_refused(GgufFile::open("/nowhere/model.gguf"), ErrorKind::file, {"/nowhere/model.gguf"});
}

}  // namespace
}  // namespace kvik
