// Files cut anywhere, lied about anywhere, mutated at random: refused or sound, never a fault. The
// sanitizers see to it that nothing outside the bytes is read.
#include <gtest/gtest.h>

#include <random>

#include "formats/gguf.h"
#include "testing/gguf_samples.h"
#include "testing/patch_bytes.h"

namespace kvik {
namespace {

// An error is one line that names the file; a file that was accepted can be read to its last byte.
testing::AssertionResult refused_or_sound(const std::vector<std::byte>& bytes) {
    const Result<GgufFile> file = GgufFile::from_bytes(bytes, "m.gguf");
    if (!file) {
        const std::string& message = file.error().message;
        if (message.starts_with("m.gguf: ") && message.find('\n') == std::string::npos)
            return testing::AssertionSuccess();
        return testing::AssertionFailure() << message;
    }
    uint64_t sum = 0;
    for (const TensorEntry& entry : file->tensors()) {
        const TensorView view = file->view(entry);
        if (view.bytes.size() !=
            dtype_bytes(entry.dtype, entry.shape.n_cols()) * entry.shape.n_rows())
            return testing::AssertionFailure() << entry.name << " has not the size of its shape";
        for (const std::byte b : view.bytes) sum += static_cast<uint64_t>(b);
    }
    for (const GgufValue& value : file->metadata().values()) {
        for (const std::byte b : value.bytes) sum += static_cast<uint64_t>(b);
        if (value.is_array && value.type == GgufType::string)
            for (const std::string_view text : GgufStrings(value)) sum += text.size();
    }
    return sum == UINT64_MAX ? testing::AssertionFailure() : testing::AssertionSuccess();
}

TEST(GgufRobust, a_file_cut_anywhere_is_refused) {
    for (const GgufSample& sample : gguf_samples())
        for (size_t n = 0; n < sample.bytes.size(); ++n) {
            // A copy of exactly n bytes: reading past them is reading past the allocation.
            const std::vector<std::byte> prefix(sample.bytes.begin(), sample.bytes.begin() + n);
            EXPECT_FALSE(GgufFile::from_bytes(prefix, "m.gguf")) << sample.name << " cut at " << n;
            EXPECT_TRUE(refused_or_sound(prefix)) << sample.name << " cut at " << n;
        }
}

TEST(GgufRobust, extreme_numbers_at_any_place_are_refused_or_harmless) {
    constexpr uint64_t kTop = uint64_t{1} << 63;
    for (const GgufSample& sample : gguf_samples())
        for (size_t at = 0; at + 8 <= sample.bytes.size(); ++at)
            for (const uint64_t lie :
                 {uint64_t{0}, uint64_t{1} << 20, uint64_t{1} << 32, uint64_t{1} << 58, kTop - 32,
                  kTop - 1, kTop, kTop + 1, UINT64_MAX - 31, UINT64_MAX - 7, UINT64_MAX})
                EXPECT_TRUE(refused_or_sound(with_bytes_at(sample.bytes, at, lie)))
                    << sample.name << ": " << lie << " at byte " << at;
}

// One to four bytes changed, or a piece cut out, doubled or copied over another.
std::vector<std::byte> mutated(std::vector<std::byte> bytes, std::mt19937_64& random) {
    const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    const size_t begin = below(bytes.size());
    const size_t n = 1 + below(std::min<size_t>(40, bytes.size() - begin));
    switch (below(4)) {
        case 0:
            for (size_t i = 1 + below(4); i > 0; --i)
                bytes[below(bytes.size())] = static_cast<std::byte>(random());
            break;
        case 1:
            bytes.erase(bytes.begin() + begin, bytes.begin() + begin + n);
            break;
        case 2: {
            const std::vector<std::byte> piece(bytes.begin() + begin, bytes.begin() + begin + n);
            bytes.insert(bytes.begin() + below(bytes.size()), piece.begin(), piece.end());
            break;
        }
        default: {
            const std::vector<std::byte> piece(bytes.begin() + begin, bytes.begin() + begin + n);
            std::copy(piece.begin(), piece.end(), bytes.begin() + below(bytes.size() - n + 1));
        }
    }
    return bytes;
}

TEST(GgufRobust, random_mutations_are_refused_or_harmless) {
    constexpr uint64_t kSeed = 2024;
    std::mt19937_64 random(kSeed);
    const std::vector<GgufSample> samples = gguf_samples();
    for (int round = 0; round < 30000; ++round) {
        const GgufSample& sample = samples[random() % samples.size()];
        ASSERT_TRUE(refused_or_sound(mutated(sample.bytes, random)))
            << sample.name << " seed " << kSeed << " round " << round;
    }
}

}  // namespace
}  // namespace kvik
