// Lies that the format allows: what is derived from them is refused or sound. The seeds of the fuzz
// target are the samples that the tests know.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "formats/gguf.h"
#include "model/gguf_config.h"
#include "model/gguf_tokenizer.h"
#include "testing/gguf_samples.h"
#include "testing/patch_bytes.h"

namespace kvik {
namespace {

template <class T>
void expect_one_line(const Result<T>& result, std::string_view where) {
    if (result) return;
    const std::string& message = result.error().message;
    EXPECT_TRUE(message.starts_with("m.gguf: ") && message.find('\n') == std::string::npos)
        << where << ": " << message;
}

TEST(GgufRobust, extreme_numbers_at_any_place_derive_to_an_error_or_a_valid_model) {
    for (const GgufSample& sample : gguf_samples())
        for (size_t at = 0; at + 4 <= sample.bytes.size(); ++at)
            for (const uint32_t lie : {0u, 1u, 3u, 1u << 20, 0x7fc00000u, 1u << 31, UINT32_MAX}) {
                const auto bytes = with_bytes_at(sample.bytes, at, lie);
                const Result<GgufFile> file = GgufFile::from_bytes(bytes, "m.gguf");
                if (!file) continue;
                const Result<ModelConfig> config = config_from_gguf(*file);
                expect_one_line(config, sample.name);
                if (config) {
                    EXPECT_TRUE(validate(*config, {}));
                }
                const auto spec = tokenizer_from_gguf(file->metadata());
                expect_one_line(spec, sample.name);
                expect_one_line(chat_templates_from_gguf(file->metadata()), sample.name);
            }
}

TEST(GgufCorpus, holds_exactly_the_samples) {
    for (const GgufSample& sample : gguf_samples()) {
        const std::string path = KVIK_SOURCE_DIR "/tests/corpus/gguf/" + sample.name;
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
