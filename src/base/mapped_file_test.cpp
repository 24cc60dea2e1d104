#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace kvik {
namespace {

// A file of its own for each test, gone at its end.
class TemporaryFile {
  public:
    explicit TemporaryFile(const std::string& content) {
        path_ = std::filesystem::temp_directory_path() /
                ("kvik_mapped_file_test_" + std::to_string(::getpid()));
        std::ofstream(path_, std::ios::binary) << content;
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    std::string path() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

std::string text_of(const MappedFile& file) {
    return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

// Three pages and a bit, every byte another than its neighbour in the next page.
std::string pages() {
    std::string content(3 * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) + 100, '\0');
    for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i % 251);
    return content;
}

void expect_file_error(const std::string& path, const std::string& reason) {
    const Result<MappedFile> file = MappedFile::open(path);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().kind, ErrorKind::file);
    EXPECT_NE(file.error().message.find(path), std::string::npos) << file.error().message;
    EXPECT_NE(file.error().message.find(reason), std::string::npos) << file.error().message;
}

}  // namespace

TEST(MappedFile, holds_the_bytes_of_the_file) {
    const TemporaryFile temporary("some bytes");
    const Result<MappedFile> file = MappedFile::open(temporary.path());
    ASSERT_TRUE(file);
    EXPECT_EQ(text_of(*file), "some bytes");
    EXPECT_EQ(file->path(), temporary.path());
}

TEST(MappedFile, names_a_file_that_is_not_there) {
    expect_file_error("/nonexistent/model.gguf", "No such file");
}

TEST(MappedFile, is_not_a_directory) {
    expect_file_error(std::filesystem::temp_directory_path().string(), "not a regular file");
}

TEST(MappedFile, is_not_a_device) {
    expect_file_error("/dev/null", "not a regular file");
}

TEST(MappedFile, is_not_empty) {
    const TemporaryFile temporary("");
    expect_file_error(temporary.path(), "it is empty");
}

TEST(MappedFile, reads_what_lies_at_an_offset) {
    const TemporaryFile temporary(pages());
    const Result<MappedFile> file = MappedFile::open(temporary.path());
    ASSERT_TRUE(file);
    std::string piece(5000, ' ');
    ASSERT_TRUE(file->read(4000, std::as_writable_bytes(std::span(piece))));
    EXPECT_EQ(piece, pages().substr(4000, 5000));
}

TEST(MappedFile, a_file_that_is_cut_while_it_is_read_is_an_error_that_says_where) {
    const TemporaryFile temporary(pages());
    const Result<MappedFile> file = MappedFile::open(temporary.path());
    ASSERT_TRUE(file);
    std::filesystem::resize_file(temporary.path(), 5000);
    std::string piece(5000, ' ');
    const Result<void> cut = file->read(4000, std::as_writable_bytes(std::span(piece)));
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().kind, ErrorKind::file);
    EXPECT_NE(cut.error().message.find("was cut while it was read at byte 5000"),
              std::string::npos);
}

TEST(MappedFile, moves_without_moving_its_bytes) {
    const TemporaryFile temporary("some bytes");
    MappedFile first = *MappedFile::open(temporary.path());
    const std::byte* const data = first.bytes().data();
    MappedFile second = std::move(first);
    EXPECT_EQ(second.bytes().data(), data);
    EXPECT_EQ(text_of(second), "some bytes");
}

TEST(ReadWholeFile, it_is_copied_up_to_a_limit) {
    const TemporaryFile file(pages());
    const uint64_t n_bytes = pages().size();
    EXPECT_EQ(read_whole_file(file.path(), n_bytes), pages());
    const Result<std::string> too_large = read_whole_file(file.path(), n_bytes - 1);
    ASSERT_FALSE(too_large);
    EXPECT_EQ(too_large.error().kind, ErrorKind::file);
    EXPECT_NE(too_large.error().message.find(file.path()), std::string::npos);
    EXPECT_FALSE(read_whole_file("/nowhere", n_bytes));
}

}  // namespace kvik
