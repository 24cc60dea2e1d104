// Every quantised type decodes as the gguf package (Python) does, bit for bit.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace kvik {
namespace {

std::vector<uint8_t> from_hex(const std::string& hex) {
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    return bytes;
}

TEST(DType, every_type_decodes_as_the_format_s_own_package_does) {
    std::ifstream file(KVIK_SOURCE_DIR "/tests/golden/dtype_vectors.txt");
    ASSERT_TRUE(file.is_open());
    int n_types = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream words(line);
        uint32_t number = 0;
        std::string bytes_hex, values_hex;
        words >> number >> bytes_hex >> values_hex;
        const std::optional<DType> type = dtype_from_number(number);
        ASSERT_TRUE(type.has_value()) << number;
        const DTypeInfo& info = dtype_info(*type);
        const std::vector<uint8_t> bytes = from_hex(bytes_hex), want = from_hex(values_hex);
        const uint64_t n_groups = bytes.size() / info.group_bytes;
        std::vector<float> got(n_groups * info.group_size);
        ASSERT_EQ(got.size() * 4, want.size()) << info.name;
        info.decode(bytes.data(), n_groups, got.data());
        EXPECT_EQ(0, std::memcmp(got.data(), want.data(), want.size())) << info.name;
        ++n_types;
    }
    EXPECT_EQ(n_types, 12);
}

}  // namespace
}  // namespace kvik
