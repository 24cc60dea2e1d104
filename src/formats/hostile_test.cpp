// Laws that hold for every file that lies, whatever its lie: refused with one line, and without an
// allocation that the file does not justify.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "formats/gguf.h"
#include "formats/json.h"
#include "formats/safetensors.h"
#include "testing/counting_new.h"
#include "testing/hostile_files.h"

namespace kvik {
namespace {

namespace fs = std::filesystem;

std::vector<HostileFile> all_files() {
    std::vector<HostileFile> files = hostile_ggufs();
    for (HostileFile& file : hostile_safetensors()) files.push_back(std::move(file));
    return files;
}

// Opens every file and hands out its refusal, and the bytes that were allocated on the way to it.
template <class Check>
void for_each_refusal(Check check) {
    const std::string folder = testing::TempDir() + "kvik_formats_hostile_test";
    for (const HostileFile& file : all_files()) {
        SCOPED_TRACE(file.about + ": " + file.lie);
        fs::remove_all(folder);
        fs::create_directory(folder);
        const std::string path = write_files(file, folder);
        Result<void> opened;
        uint64_t n_bytes = 0;
        {
            const CountedBytes counted;
            if (file.about.starts_with("GGUF"))
                opened = GgufFile::open(path).map([](const GgufFile&) {});
            else
                opened = open_safetensors(path).map([](const auto&) {});
            n_bytes = counted.total();
        }
        EXPECT_FALSE(opened);
        if (!opened) check(file, opened.error(), n_bytes);
    }
    fs::remove_all(folder);
}

TEST(HostileFiles, each_is_refused_in_one_printable_line_of_bounded_length) {
    for_each_refusal([](const HostileFile&, const Error& error, uint64_t) {
        EXPECT_TRUE(error.kind == ErrorKind::file || error.kind == ErrorKind::unsupported);
        EXPECT_LT(error.message.size(), 500u) << error.message;
        for (const char c : error.message) EXPECT_TRUE(c >= 0x20 && c <= 0x7e) << error.message;
    });
}

TEST(HostileFiles, a_small_one_allocates_little) {
    for_each_refusal([](const HostileFile& file, const Error& error, uint64_t n_allocated) {
        uint64_t n_bytes = 0;
        for (const HostileFile::Part& part : file.parts) n_bytes += part.bytes.size();
        EXPECT_LT(n_allocated, (64 << 10) + 9 * n_bytes) << error.message;
    });
}

TEST(HostileFiles, a_json_tree_takes_at_most_50_times_its_text) {
    const auto repeated = [](std::string_view piece) {
        std::string text = "[";
        for (int i = 0; i < 10000; ++i) text.append(piece).append(",");
        return text + "0]";
    };
    for (const std::string_view piece : {"0", "\"\"", "[]", "{}", "[0]", "{\"\":0}", "[[[[]]]]"}) {
        const std::string text = repeated(piece);
        const CountedBytes counted;
        ASSERT_TRUE(parse_json(text, "f.json"));
        EXPECT_LT(counted.total(), 50 * text.size()) << piece;
    }
}

}  // namespace
}  // namespace kvik
