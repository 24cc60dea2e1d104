// Every name of the table of patterns cuts texts where the `tokenizers` package cuts them:
// tests/oracles/pretokenizers.py recorded it.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "text/pretokenizer.h"

namespace kvik {
namespace {

using Json = nlohmann::json;

Json record() {
    std::ifstream file(KVIK_SOURCE_DIR "/tests/golden/tokenizers/pretokenizers.json");
    EXPECT_TRUE(file) << "no record";
    return Json::parse(file);
}

TEST(PretokenizerGolden, cuts_as_recorded_under_every_name) {
    const Json recorded = record();
    const auto texts = recorded["texts"].get<std::vector<std::string>>();
    ASSERT_GT(texts.size(), 10u);
    for (const PretokenizerPattern& pattern : kPretokenizerPatterns) {
        SCOPED_TRACE(pattern.name);
        const auto pretokenizer = Pretokenizer::named(pattern.name);
        ASSERT_TRUE(pretokenizer) << pretokenizer.error().message;
        const auto found = recorded["ends"].find(std::string(pattern.name));
        ASSERT_NE(found, recorded["ends"].end()) << "is not recorded";
        for (size_t i = 0; i < texts.size(); ++i) {
            std::vector<uint32_t> ends;
            pretokenizer->split(texts[i], ends);
            EXPECT_EQ(ends, (*found)[i].get<std::vector<uint32_t>>()) << texts[i];
        }
    }
}

TEST(PretokenizerGolden, has_a_row_for_every_recorded_name_and_no_name_twice) {
    std::set<std::string> names, recorded_names;
    for (const PretokenizerPattern& pattern : kPretokenizerPatterns)
        EXPECT_TRUE(names.emplace(pattern.name).second) << pattern.name << " is there twice";
    const Json recorded = record();
    for (const auto& [name, ends] : recorded["ends"].items()) recorded_names.insert(name);
    EXPECT_EQ(names, recorded_names);
}

}  // namespace
}  // namespace kvik
