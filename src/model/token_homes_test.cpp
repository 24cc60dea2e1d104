// Every home of an end token and of an added token, alone and in pairs: what transformers makes of
// them (tests/oracles/token_homes.py) is what kvik makes of them.
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "formats/json.h"
#include "model/hf_end_tokens.h"
#include "model/hf_tokenizer.h"

namespace kvik {
namespace {

using Json = nlohmann::json;

const Json& record() {
    static const Json json = [] {
        std::ifstream file(KVIK_SOURCE_DIR "/tests/golden/token_homes.json");
        std::stringstream text;
        text << file.rdbuf();
        Result<Json> parsed = parse_json(text.str(), "token_homes.json");
        EXPECT_TRUE(parsed) << parsed.error().message;
        return parsed ? std::move(*parsed) : Json();
    }();
    return json;
}

// A file of one case, as text.
class Files {
  public:
    explicit Files(const Json& files) {
        for (const auto& [name, content] : files.items()) texts_[name] = content.dump();
    }
    std::optional<std::string_view> find(const std::string& name) const {
        const auto text = texts_.find(name);
        if (text == texts_.end()) return std::nullopt;
        return text->second;
    }

  private:
    std::map<std::string, std::string> texts_;
};

Result<TokenizerSpec> spec_of(const Files& files) {
    static const std::string tokenizer = record()["tokenizer"].dump();
    return tokenizer_from_hf(
        HfTokenizerFiles{.directory = "dir",
                         .tokenizer = tokenizer,
                         .tokenizer_config = files.find("tokenizer_config.json"),
                         .generation_config = files.find("generation_config.json"),
                         .special_tokens_map = files.find("special_tokens_map.json"),
                         .added_tokens = files.find("added_tokens.json"),
                         .config = files.find("config.json")});
}

// As the record has it: id -> content, special, lstrip, rstrip, normalized.
Json added_of(const TokenizerSpec& spec) {
    Json added = Json::object();
    for (size_t id = 0; id < spec.tokens.size(); ++id) {
        const TokenType type = spec.types[id];
        if (type == TokenType::normal) continue;
        const FindRule rule = spec.rules[id];
        added[std::to_string(id)] = {spec.tokens[id], type == TokenType::control,
                                     rule.takes_space_before, rule.takes_space_after,
                                     rule.normalized};
    }
    return added;
}

Json id_of(const std::optional<TokenId>& id) {
    return id ? Json(*id) : Json();
}

TEST(TokenHomes, added_and_named_tokens_are_those_of_transformers) {
    size_t n = 0;
    for (const Json& one : record()["added"]) {
        SCOPED_TRACE(one["name"].dump() + " " + one["files"].dump());
        const auto spec = spec_of(Files(one["files"]));
        ASSERT_TRUE(spec) << spec.error().message;
        const Json& want = one["want"];
        EXPECT_EQ(added_of(*spec), want["added"]);
        EXPECT_EQ(id_of(spec->bos), want["bos"]);
        EXPECT_EQ(id_of(spec->eos), want["eos"]);
        ++n;
    }
    ASSERT_GE(n, 900u);
    std::cout << n << " ways to add or name a token\n";
}

TEST(TokenHomes, end_tokens_are_those_of_transformers) {
    size_t n = 0;
    for (const Json& one : record()["ends"]) {
        SCOPED_TRACE(one["name"]);
        const Files files(one["files"]);
        const auto ends = end_tokens_from_hf(
            HfEndFiles{"dir", files.find("generation_config.json"), files.find("config.json")});
        ASSERT_TRUE(ends) << ends.error().message;
        std::vector<TokenId> want;
        for (const Json& id : one["want"])
            if (std::find(want.begin(), want.end(), id.get<TokenId>()) == want.end())
                want.push_back(id);
        EXPECT_EQ(*ends, want);
        ++n;
    }
    ASSERT_GE(n, 50u);
    std::cout << n << " ways to name an end token\n";
}

// An end token ends an answer whether the tokenizer has it as eos, as eot or not at all.
TEST(TokenHomes, the_tokenizer_knows_the_ends_that_it_has_tokens_for) {
    const Files files(Json::parse(R"({"generation_config.json": {"eos_token_id": [257, 9999, 258]},
        "tokenizer_config.json": {"eos_token": "<C>"}})"));
    const auto spec = spec_of(files);
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ(spec->eos, 259);
    EXPECT_EQ(spec->eot, 257);
    EXPECT_EQ(spec->ends, std::vector<TokenId>{258});
    EXPECT_EQ(*end_tokens_from_hf(HfEndFiles{"dir", files.find("generation_config.json"), {}}),
              (std::vector<TokenId>{257, 9999, 258}));
}

}  // namespace
}  // namespace kvik
