#include "cli/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace kvik::cli {
namespace {

std::string temporary(const char* name) {
    return std::filesystem::temp_directory_path() /
           ("kvik_npy_" + std::to_string(::getpid()) + name);
}

std::string bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Npy, header_is_what_numpy_writes) {
    // numpy 2.4: numpy.save(f, numpy.zeros((2, 3), '<f4')), first 128 bytes.
    std::string expected("\x93NUMPY\x01\x00v\x00", 10);
    expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    expected.resize(127, ' ');
    expected += '\n';
    EXPECT_EQ(npy_header(2, 3), expected);
}

TEST(Npy, data_starts_on_a_multiple_of_64_and_the_length_says_where) {
    for (uint64_t rows = 1; rows < 1ull << 60; rows *= 10) {
        const std::string header = npy_header(rows, 49152);
        const auto length =
            static_cast<uint8_t>(header[8]) + 256u * static_cast<uint8_t>(header[9]);
        ASSERT_EQ(header.size() % 64, 0u) << rows;
        ASSERT_EQ(header.size(), 10u + length) << rows;
        ASSERT_EQ(header.back(), '\n') << rows;
    }
}

TEST(Npy, rows_come_back_as_they_went) {
    const std::string path = temporary("rows.npy");
    const std::array<float, 4> values = {1.5f, -0.0f, 3e-41f, -7.0f};
    {
        auto writer = NpyWriter::create(path, 2, 2);
        ASSERT_TRUE(writer);
        ASSERT_TRUE(writer->append(std::span(values).first(2)));
        ASSERT_TRUE(writer->append(std::span(values).last(2)));
        ASSERT_TRUE(writer->finish());
    }
    const std::string bytes = bytes_of(path), header = npy_header(2, 2);
    ASSERT_EQ(bytes.size(), header.size() + sizeof values);
    EXPECT_EQ(std::memcmp(bytes.data() + header.size(), values.data(), sizeof values), 0);
    std::filesystem::remove(path);
}

TEST(Npy, an_unfinished_file_does_not_stay) {
    const std::string path = temporary("part.npy");
    const std::array<float, 2> row = {};
    {
        auto writer = NpyWriter::create(path, 2, 2);
        ASSERT_TRUE(writer);
        ASSERT_TRUE(writer->append(row));
        EXPECT_FALSE(writer->finish());
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Npy, a_full_disk_is_an_error_that_names_the_file) {
    auto writer = NpyWriter::create("/dev/full", 1, 1 << 20);
    ASSERT_TRUE(writer);
    const std::vector<float> row(1 << 20);
    auto done = writer->append(row);
    if (done) done = writer->finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::file);
    EXPECT_NE(done.error().message.find("/dev/full"), std::string::npos);
}

}  // namespace
}  // namespace kvik::cli
