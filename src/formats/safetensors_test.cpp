#include "formats/safetensors.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "testing/expect_error.h"
#include "testing/safetensors_writer.h"

namespace kvik {
namespace {

constexpr std::array<float, 6> kValues = {0, 1, 2, 3, 4, 5};

// A folder of the test's own, gone with its scope.
struct TempFolder {
    TempFolder()
        : path(testing::TempDir() + "kvik_safetensors_test_" +
               testing::UnitTest::GetInstance()->current_test_info()->name()) {
        std::filesystem::create_directory(path);
    }
    ~TempFolder() { std::filesystem::remove_all(path); }
    std::string path;
};

std::vector<std::byte> bytes_of(const TensorFile& file, std::string_view name) {
    const TensorEntry* entry = file.find(name);
    if (!entry) return {};
    const auto bytes = file.view(*entry).bytes;
    return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> raw(std::span<const float> values) {
    const auto bytes = std::as_bytes(values);
    return {bytes.begin(), bytes.end()};
}

TEST(SafetensorsFile, a_tensor_has_its_shape_and_its_own_bytes) {
    SafetensorsWriter w;
    w.f32_tensor("first", {2}, std::array{7.0f, 8.0f}).f32_tensor("second", {2, 3}, kValues);
    const auto bytes = w.bytes();
    const Result<SafetensorsFile> file = SafetensorsFile::from_bytes({"f", bytes});
    ASSERT_TRUE(file) << file.error().message;
    const TensorEntry* entry = file->find("second");
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry, &file->tensors()[1]);
    EXPECT_EQ(entry->dtype, DType::f32);
    EXPECT_EQ(entry->shape, (Shape{{2, 3, 1, 1}, 2}));
    EXPECT_EQ(bytes_of(*file, "second"), raw(kValues));
    EXPECT_EQ(bytes_of(*file, "first"), raw(std::array{7.0f, 8.0f}));
    EXPECT_EQ(file->find("third"), nullptr);
}

TEST(SafetensorsFile, reads_the_three_types_that_it_computes_with) {
    SafetensorsWriter w;
    w.tensor("a", "F32", {1}, std::vector<std::byte>(4));
    w.tensor("b", "F16", {1}, std::vector<std::byte>(2));
    w.tensor("c", "BF16", {1}, std::vector<std::byte>(2));
    const auto bytes = w.bytes();
    const Result<SafetensorsFile> file = SafetensorsFile::from_bytes({"f", bytes});
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->find("a")->dtype, DType::f32);
    EXPECT_EQ(file->find("b")->dtype, DType::f16);
    EXPECT_EQ(file->find("c")->dtype, DType::bf16);
}

TEST(SafetensorsFile, a_number_has_the_shape_1) {
    const auto bytes = SafetensorsWriter().f32_tensor("scale", {}, std::array{2.0f}).bytes();
    const Result<SafetensorsFile> file = SafetensorsFile::from_bytes({"f", bytes});
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->find("scale")->shape, (Shape{{1, 1, 1, 1}, 1}));
}

TEST(SafetensorsFile, what_an_entry_cannot_say_is_skipped_with_the_reason) {
    SafetensorsWriter w;
    w.f32_tensor("weight", {2, 3}, kValues);
    w.tensor("mask", "BOOL", {1, 1, 2, 2}, std::vector<std::byte>(4));
    w.tensor("deep", "F32", {1, 1, 1, 1, 1}, std::vector<std::byte>(4));
    w.tensor("empty", "F32", {3, 0}, {});
    w.tensor("nibbles", "F4", {3, 2}, std::vector<std::byte>(3));
    w.tensor("new", "Q1_XXL", {100}, std::vector<std::byte>(3));
    const auto bytes = w.bytes();
    const Result<SafetensorsFile> file = SafetensorsFile::from_bytes({"f", bytes});
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_EQ(file->tensors().size(), 1u);
    ASSERT_EQ(file->skipped().size(), 5u);
    EXPECT_EQ(file->find("mask"), nullptr);
    constexpr std::string_view names[] = {"deep", "empty", "mask", "new", "nibbles"};
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(file->skipped()[i].name, names[i]);
    EXPECT_EQ(file->skipped()[0].why, "has 5 dimensions, the limit is 4");
    EXPECT_EQ(file->skipped()[1].why, "has no elements");
    EXPECT_EQ(file->skipped()[2].why, "is of type 'BOOL', kvik computes with F32, F16 and BF16");
    EXPECT_EQ(file->skipped()[3].offset + 3, bytes.size());
    for (const SkippedTensor& skipped : file->skipped())
        EXPECT_EQ(skipped.could_matter, skipped.name != "mask" && skipped.name != "empty")
            << skipped.name;
}

TEST(SafetensorsFile, fields_and_tensors_may_come_in_any_order_and_with_escapes) {
    const std::string header =
        R"({ "b":{"data_offsets":[4,8],"shape":[1],"dtype":"F32"} , "\u0061" : )"
        R"({"shape" : [1 ],"dtype":"F32", "data_offsets":[0 , 4]}, "__metadata__":{"a":"\n"} }   )";
    const auto bytes = safetensors_bytes(header, raw(std::array{1.0f, 2.0f}));
    const Result<SafetensorsFile> file = SafetensorsFile::from_bytes({"f", bytes});
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(bytes_of(*file, "a"), raw(std::array{1.0f}));
    EXPECT_EQ(bytes_of(*file, "b"), raw(std::array{2.0f}));
}

TEST(SafetensorsFile, a_directory_with_one_file_is_opened) {
    const TempFolder folder;
    SafetensorsWriter w;
    w.f32_tensor("a", {6}, kValues);
    ASSERT_TRUE(w.write_directory(folder.path));
    const auto file = open_safetensors(folder.path);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(bytes_of(**file, "a"), raw(kValues));
    const TensorEntry& entry = (*file)->tensors()[0];
    std::vector<std::byte> read(entry.n_bytes - 4);
    ASSERT_TRUE((*file)->read(entry, 4, read));
    EXPECT_EQ(read, raw(std::span(kValues).subspan(1)));
}

std::array<SafetensorsWriter, 2> two_shards() {
    std::array<SafetensorsWriter, 2> shards;
    shards[0].f32_tensor("c", {2}, std::array{1.0f, 2.0f}).f32_tensor("a", {1}, std::array{3.0f});
    shards[1].f32_tensor("b", {6}, kValues).tensor("ids", "I64", {1}, std::vector<std::byte>(8));
    return shards;
}

TEST(SafetensorsFile, shards_are_one_file) {
    const TempFolder folder;
    ASSERT_TRUE(write_shards(folder.path, two_shards()));
    const auto file = open_safetensors(folder.path);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ((*file)->tensors().size(), 3u);
    EXPECT_EQ(bytes_of(**file, "a"), raw(std::array{3.0f}));
    EXPECT_EQ(bytes_of(**file, "b"), raw(kValues));
    EXPECT_EQ(bytes_of(**file, "c"), raw(std::array{1.0f, 2.0f}));
    EXPECT_EQ((*file)->skipped().size(), 1u);
}

TEST(SafetensorsFile, one_file_is_preferred_to_shards) {
    const TempFolder folder;
    ASSERT_TRUE(write_shards(folder.path, two_shards()));
    ASSERT_TRUE(SafetensorsWriter().f32_tensor("x", {6}, kValues).write_directory(folder.path));
    const auto file = open_safetensors(folder.path);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_NE((*file)->find("x"), nullptr);
    EXPECT_EQ((*file)->find("a"), nullptr);
}

// The tensors a, b and c, the directory's other files left out.
void expect_shards(const std::string& folder) {
    const auto file = open_safetensors(folder);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_EQ((*file)->tensors().size(), 3u);
    EXPECT_EQ(bytes_of(**file, "a"), raw(std::array{3.0f}));
    EXPECT_EQ(bytes_of(**file, "b"), raw(kValues));
    EXPECT_EQ(bytes_of(**file, "c"), raw(std::array{1.0f, 2.0f}));
    for (const TensorEntry& entry : (*file)->tensors()) {
        std::vector<std::byte> read(entry.n_bytes);
        ASSERT_TRUE((*file)->read(entry, 0, read));
        EXPECT_EQ(read, bytes_of(**file, entry.name));
    }
}

TEST(SafetensorsFile, files_of_any_names_are_read_as_one_model) {
    namespace fs = std::filesystem;
    struct Naming {
        std::vector<std::string> shards;  // of two_shards()
        std::vector<std::string> beside = {};
    };
    const Naming namings[] = {
        {{"a.safetensors", "b.safetensors"}},
        {{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}},
        {{"pytorch_model-00001-of-00002.safetensors", "pytorch_model-00002-of-00002.safetensors"},
         {"consolidated.safetensors"}},
        {{"consolidated.00.safetensors", "consolidated.01.safetensors"}},
        {{"x.safetensors", "y.safetensors"}, {"adapter_model.safetensors"}},
    };
    for (const Naming& naming : namings) {
        SCOPED_TRACE(naming.shards[0]);
        const TempFolder folder;
        const auto shards = two_shards();
        for (size_t i = 0; i < 2; ++i)
            ASSERT_TRUE(shards[i].write(folder.path + "/" + naming.shards[i]));
        for (const std::string& name : naming.beside)
            ASSERT_TRUE(shards[0].write(folder.path + "/" + name));
        expect_shards(folder.path);
    }
}

TEST(SafetensorsFile, an_index_of_any_name_is_found) {
    for (const char* name : {"model.safetensors.index.json", "consolidated.safetensors.index.json",
                             "x.safetensors.index.json"}) {
        const TempFolder folder;
        ASSERT_TRUE(write_shards(folder.path, two_shards()));
        std::filesystem::rename(folder.path + "/model.safetensors.index.json",
                                folder.path + "/" + name);
        // No business of the index.
        ASSERT_TRUE(two_shards()[0].write(folder.path + "/other.safetensors"));
        expect_shards(folder.path);
    }
}

TEST(SafetensorsFile, one_file_of_any_name_is_the_model) {
    for (const char* name : {"pytorch_model.safetensors", "x.safetensors",
                             "consolidated.safetensors", "model-00001-of-00001.safetensors"}) {
        const TempFolder folder;
        ASSERT_TRUE(
            SafetensorsWriter().f32_tensor("a", {6}, kValues).write(folder.path + "/" + name));
        const auto file = open_safetensors(folder.path);
        ASSERT_TRUE(file) << file.error().message;
        EXPECT_EQ(bytes_of(**file, "a"), raw(kValues));
    }
}

// A copy in another shard is passed over, wherever it lies; a tensor that the index does not know
// ("c") is the model's as well.
TEST(SafetensorsFile, the_index_says_which_shard_a_tensor_is_of) {
    for (const uint32_t stale : {0u, 1u}) {
        const TempFolder folder;
        std::array<SafetensorsWriter, 2> shards;
        shards[stale].f32_tensor("a", {1}, std::array{9.0f});
        shards[1 - stale].f32_tensor("a", {1}, std::array{3.0f});
        shards[0].f32_tensor("c", {2}, std::array{1.0f, 2.0f});
        shards[1].f32_tensor("b", {6}, kValues);
        shards[0].f32_tensor("d", {1}, std::array{0.0f});
        shards[1].f32_tensor("d", {1}, std::array{4.0f});
        for (const uint32_t i : {0u, 1u})
            ASSERT_TRUE(shards[i].write(folder.path + "/" + std::to_string(i) + ".safetensors"));
        std::ofstream(folder.path + "/model.safetensors.index.json")
            << R"({"weight_map":{"b":"1.safetensors","d":"0.safetensors","a":")" << 1 - stale
            << R"(.safetensors"}})";
        const auto file = open_safetensors(folder.path);
        ASSERT_TRUE(file) << file.error().message;
        EXPECT_EQ((*file)->tensors().size(), 4u);
        EXPECT_EQ(bytes_of(**file, "a"), raw(std::array{3.0f}));
        EXPECT_EQ(bytes_of(**file, "b"), raw(kValues));
        EXPECT_EQ(bytes_of(**file, "c"), raw(std::array{1.0f, 2.0f}));
        EXPECT_EQ(bytes_of(**file, "d"), raw(std::array{0.0f}));
    }
}

TEST(SafetensorsFile, a_shard_that_is_not_there_is_named) {
    const TempFolder folder;
    ASSERT_TRUE(write_shards(folder.path, two_shards()));
    const std::string lost = folder.path + "/model-00002-of-00002.safetensors";
    std::filesystem::remove(lost);
    expect_refused(open_safetensors(folder.path), ErrorKind::file, {"cannot open " + lost});
}

TEST(SafetensorsFile, a_directory_without_weights_says_what_it_needs) {
    const TempFolder folder;
    expect_refused(
        open_safetensors(folder.path), ErrorKind::file,
        {folder.path,
         "neither model.safetensors nor model.safetensors.index.json nor another *.safetensors"});
    expect_refused(open_safetensors("/nowhere"), ErrorKind::file, {"/nowhere: has neither"});
}

}  // namespace
}  // namespace kvik
