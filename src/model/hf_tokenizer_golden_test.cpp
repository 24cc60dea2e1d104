// Seven small tokenizers of the supported families, and what the `tokenizers` package makes of
// random strings: tests/golden/tokenizers/generate.py wrote both.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "formats/json.h"
#include "model/hf_tokenizer.h"

namespace kvik {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<TokenId>;

std::string golden(const std::string& name) {
    std::ifstream file(std::string(KVIK_SOURCE_DIR "/tests/golden/tokenizers/") + name);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_TRUE(file.good()) << name;
    return text.str();
}

std::unique_ptr<Tokenizer> tokenizer_of(const std::string& name) {
    const std::string text = golden(name + ".json");
    auto spec = tokenizer_from_hf(HfTokenizerFiles{name, text, {}, {}});
    EXPECT_TRUE(spec) << spec.error().message;
    auto tokenizer = make_tokenizer(std::move(*spec));
    EXPECT_TRUE(tokenizer) << tokenizer.error().message;
    return std::move(*tokenizer);
}

// What a build that checks itself, or is not optimised, takes longer for is not measured.
#if defined(__has_feature)
#define KVIK_HAS_FEATURE(name) __has_feature(name)
#else
#define KVIK_HAS_FEATURE(name) 0
#endif
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    KVIK_HAS_FEATURE(address_sanitizer) || KVIK_HAS_FEATURE(thread_sanitizer)
constexpr double kMostSeconds = 60;
#else
constexpr double kMostSeconds = 0.5;
#endif

class HfGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(HfGolden, gives_the_ids_that_the_package_gives) {
    const auto tokenizer = tokenizer_of(GetParam());
    const Result<Json> rows = parse_json(golden(GetParam() + std::string(".strings.json")), "");
    ASSERT_TRUE(rows) << rows.error().message;
    ASSERT_GE(rows->size(), 50u);
    for (const Json& row : *rows) {
        const std::string text = row[0];
        EXPECT_EQ(tokenizer->encode(text, Specials::as_text), row[1].get<Ids>()) << row[0];
        EXPECT_EQ(tokenizer->encode(text, Specials::recognised), row[2].get<Ids>()) << row[0];
    }
}

TEST_P(HfGolden, writes_no_control_token_for_text_that_is_not_trusted) {
    const auto tokenizer = tokenizer_of(GetParam());
    const Result<Json> rows = parse_json(golden(GetParam() + std::string(".strings.json")), "");
    ASSERT_TRUE(rows) << rows.error().message;
    for (const Json& row : *rows) {
        const std::string text = row[0];
        const Ids ids = tokenizer->encode(MarkedText{text, {{0, text.size()}}});
        EXPECT_EQ(ids, row[1].get<Ids>()) << row[0];
    }
}

// All strings in pairs, as one text: half of them trusted.
TEST_P(HfGolden, gives_both_sides_of_a_split_the_ids_of_the_whole) {
    const auto tokenizer = tokenizer_of(GetParam());
    const Result<Json> rows = parse_json(golden(GetParam() + std::string(".strings.json")), "");
    ASSERT_TRUE(rows) << rows.error().message;
    size_t n_splits = 0;
    for (size_t i = 0; i < rows->size(); ++i) {
        const std::string first = (*rows)[i][0], second = (*rows)[(7 * i + 3) % rows->size()][0];
        MarkedText text{first + " " + second, {}};
        if (i % 2 == 0) text.untrusted.push_back({first.size() / 2, text.text.size()});
        const Ids whole = tokenizer->encode(text);
        for (size_t at = 1; at < text.text.size(); ++at) {
            if (!tokenizer->splits_at(text, at)) continue;
            ++n_splits;
            MarkedText before{text.text.substr(0, at), text.untrusted};
            for (ByteRange& range : before.untrusted) {
                range = {std::min(range.begin, at), std::min(range.end, at)};
            }
            Ids ids = tokenizer->encode(before);
            const Ids rest = tokenizer->encode_from(text, at);
            ids.insert(ids.end(), rest.begin(), rest.end());
            ASSERT_EQ(ids, whole) << "byte " << at << " of " << text.text;
        }
    }
    EXPECT_GT(n_splits, 10u);
}

TEST_P(HfGolden, takes_a_megabyte_in_under_half_a_second) {
    const auto tokenizer = tokenizer_of(GetParam());
    const std::string prose =
        "The quick brown fox jumps over the lazy dog, while 17 engineers argue (politely) about "
        "caches; nobody's sure who'll win. \"It depends,\" she said.\n\n";
    std::string text;
    while (text.size() < 1'000'000) text += prose;
    double best = kMostSeconds;
    size_t n_ids = 0;
    for (int run = 0; run < 3; ++run) {
        const auto begin = std::chrono::steady_clock::now();
        n_ids = tokenizer->encode(text, Specials::as_text).size();
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        best = std::min(best, seconds.count());
    }
    std::cout << GetParam() << ": " << text.size() << " bytes, " << n_ids << " ids in " << best
              << " s\n";
    EXPECT_LT(best, kMostSeconds);
}

INSTANTIATE_TEST_SUITE_P(Families, HfGolden,
                         ::testing::Values("gpt2", "llama3", "qwen2", "gemma", "llama2", "mistral",
                                           "unigram"),
                         [](const auto& family) { return std::string(family.param); });

}  // namespace
}  // namespace kvik
