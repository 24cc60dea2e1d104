// Files cut anywhere, lied about anywhere, mutated at random: refused or sound, never a fault. The
// sanitizers see to it that nothing outside the bytes is read.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>
#include <random>

#include "formats/safetensors.h"
#include "testing/safetensors_samples.h"
#include "testing/safetensors_writer.h"

namespace kvik {
namespace {

using Bytes = std::vector<std::byte>;

// An error is one line that names the file; a file that was accepted can be read to its last byte,
// and its tensors are all of its data.
testing::AssertionResult refused_or_sound(const Bytes& bytes) {
    const auto file = SafetensorsFile::from_bytes({"m", bytes});
    if (!file) {
        const std::string& message = file.error().message;
        if (message.starts_with("m: ") && message.find('\n') == std::string::npos)
            return testing::AssertionSuccess();
        return testing::AssertionFailure() << message;
    }
    uint64_t sum = 0;
    for (const TensorEntry& entry : file->tensors()) {
        const TensorView view = file->view(entry);
        if (view.bytes.size() != dtype_bytes(entry.dtype, entry.shape.n_elements()))
            return testing::AssertionFailure() << entry.name << " has not the size of its shape";
        for (const std::byte b : view.bytes) sum += static_cast<uint64_t>(b);
    }
    return sum == UINT64_MAX ? testing::AssertionFailure() : testing::AssertionSuccess();
}

TEST(SafetensorsRobust, every_sample_is_valid) {
    for (const SafetensorsSample& sample : safetensors_samples()) {
        const auto file = SafetensorsFile::from_bytes({"m", sample.bytes});
        EXPECT_TRUE(file) << sample.name << ": " << file.error().message;
    }
}

TEST(SafetensorsRobust, a_file_cut_anywhere_is_refused) {
    for (const SafetensorsSample& sample : safetensors_samples())
        for (size_t n = 0; n < sample.bytes.size(); ++n) {
            // A copy of exactly n bytes: reading past them is reading past the allocation.
            const Bytes prefix(sample.bytes.begin(), sample.bytes.begin() + n);
            EXPECT_FALSE(SafetensorsFile::from_bytes({"m", prefix}))
                << sample.name << " cut at " << n;
            EXPECT_TRUE(refused_or_sound(prefix)) << sample.name << " cut at " << n;
        }
}

TEST(SafetensorsRobust, a_file_with_one_byte_more_is_refused) {
    for (SafetensorsSample sample : safetensors_samples()) {
        sample.bytes.push_back({});
        EXPECT_FALSE(SafetensorsFile::from_bytes({"m", sample.bytes})) << sample.name;
    }
}

TEST(SafetensorsRobust, any_other_number_in_the_place_of_a_digit_is_refused_or_harmless) {
    for (const SafetensorsSample& sample : safetensors_samples())
        for (size_t at = 8; at < sample.bytes.size(); ++at) {
            const auto digit = std::to_integer<char>(sample.bytes[at]);
            if (digit < '0' || digit > '9') continue;
            for (const std::string_view lie :
                 {"0", "3", "16777216", "4294967296", "4611686018427387904", "9223372036854775807",
                  "9223372036854775808", "18446744073709551608", "18446744073709551615",
                  "18446744073709551616", "-1", "1e3", "null"}) {
                Bytes bytes = sample.bytes;
                bytes.erase(bytes.begin() + at);
                const auto raw = std::as_bytes(std::span(lie));
                bytes.insert(bytes.begin() + at, raw.begin(), raw.end());
                bytes[0] =
                    static_cast<std::byte>(std::to_integer<size_t>(bytes[0]) + lie.size() - 1);
                EXPECT_TRUE(refused_or_sound(bytes)) << sample.name << ": " << lie << " at " << at;
            }
        }
}

TEST(SafetensorsRobust, any_byte_in_any_place_is_refused_or_harmless) {
    for (const SafetensorsSample& sample : safetensors_samples())
        for (size_t at = 0; at < sample.bytes.size(); ++at)
            for (unsigned value = 0; value < 256; ++value) {
                Bytes bytes = sample.bytes;
                bytes[at] = static_cast<std::byte>(value);
                EXPECT_TRUE(refused_or_sound(bytes))
                    << sample.name << ": " << value << " at " << at;
            }
}

TEST(SafetensorsRobust, random_mutations_are_refused_or_harmless) {
    constexpr uint64_t kSeed = 2025;
    std::mt19937_64 random(kSeed);
    const std::vector<SafetensorsSample> samples = safetensors_samples();
    for (int round = 0; round < 30000; ++round) {
        const SafetensorsSample& sample = samples[random() % samples.size()];
        Bytes bytes = sample.bytes;
        const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
        // A piece goes elsewhere; half of the time the header's length follows.
        const size_t begin = 8 + below(bytes.size() - 8);
        const size_t n = 1 + below(std::min<size_t>(40, bytes.size() - begin));
        const Bytes piece(bytes.begin() + begin, bytes.begin() + begin + n);
        bytes.insert(bytes.begin() + 8 + below(bytes.size() - 8), piece.begin(), piece.end());
        if (below(2) == 0) bytes[0] = static_cast<std::byte>(std::to_integer<size_t>(bytes[0]) + n);
        ASSERT_TRUE(refused_or_sound(bytes))
            << sample.name << " seed " << kSeed << " round " << round;
    }
}

constexpr std::string_view kIndex = R"({"metadata":{"n":4},"weight_map":{"a":"x","b":"y"}})";

// The index with two sound shards, x of the tensor a and y of the tensor b.
Result<SafetensorsFile> open_index(std::string_view index) {
    static const std::array<Bytes, 2> bytes = {
        SafetensorsWriter().f32_tensor("a", {1}, std::array{1.f}).bytes(),
        SafetensorsWriter().f32_tensor("b", {1}, std::array{2.f}).bytes()};
    const std::array<SafetensorsFile::Shard, 2> shards = {SafetensorsFile::Shard{"x", bytes[0]},
                                                          SafetensorsFile::Shard{"y", bytes[1]}};
    return SafetensorsFile::from_bytes({"m", std::as_bytes(std::span(index))}, shards);
}

TEST(SafetensorsRobust, an_index_cut_anywhere_is_refused) {
    ASSERT_TRUE(open_index(kIndex));
    for (size_t n = 0; n < kIndex.size(); ++n)
        EXPECT_FALSE(open_index(kIndex.substr(0, n))) << "cut at " << n;
}

TEST(SafetensorsRobust, any_byte_in_any_place_of_an_index_is_refused_or_keeps_what_it_says) {
    for (size_t at = 0; at < kIndex.size(); ++at)
        for (unsigned value = 0; value < 256; ++value) {
            std::string index(kIndex);
            index[at] = static_cast<char>(value);
            const auto file = open_index(index);
            if (!file) {
                const std::string& message = file.error().message;
                EXPECT_EQ(message.find('\n'), std::string::npos) << message;
                continue;
            }
            EXPECT_TRUE(file->find("a") && file->find("b")) << value << " at " << at;
        }
}

TEST(SafetensorsCorpus, holds_exactly_the_samples) {
    std::vector<SafetensorsSample> samples = safetensors_samples();
    for (SafetensorsSample& sample : sharded_samples()) samples.push_back(std::move(sample));
    for (const SafetensorsSample& sample : samples) {
        const std::string path = KVIK_SOURCE_DIR "/tests/corpus/safetensors/" + sample.name;
        std::ifstream file(path, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        const std::string expected(reinterpret_cast<const char*>(sample.bytes.data()),
                                   sample.bytes.size());
        if (bytes == expected) continue;
        const std::string fresh = testing::TempDir() + sample.name;
        std::ofstream(fresh, std::ios::binary) << expected;
        ADD_FAILURE() << path << " is not what the writer makes; that is in " << fresh;
    }
}

}  // namespace
}  // namespace kvik
