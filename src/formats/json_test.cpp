#include "formats/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "testing/expect_error.h"

namespace kvik {
namespace {

void refused(std::string_view text, std::initializer_list<std::string_view> words) {
    const auto tree = parse_json(text, "f.json");
    expect_refused(tree, ErrorKind::file, words);
    EXPECT_TRUE(tree.error().message.starts_with("f.json: ")) << tree.error().message;
}

TEST(Json, a_valid_text_is_the_tree_that_the_library_makes_of_it) {
    for (const std::string_view text :
         {"{}", "[]", "0", " null ", "\"\\u0061\\ud83d\\ude00\"", "[1,-2,3.5e1,true,false,null]",
          R"({"a":{"b":[{"c":[[],{}]}]},"d":"\n","":1})", "18446744073709551615"}) {
        const auto tree = parse_json(text, "f.json");
        ASSERT_TRUE(tree) << tree.error().message;
        EXPECT_EQ(*tree, nlohmann::json::parse(text)) << text;
    }
}

TEST(Json, a_key_may_not_come_twice_in_one_object) {
    refused(R"({"a":1,"b":2,"a":3})", {"has the key 'a' twice", "before byte 16"});
    refused(R"([{"x":{"k":[],"\u006b":1}}])", {"'k' twice"});
    EXPECT_TRUE(parse_json(R"([{"a":1},{"a":{"a":2}}])", "f.json"));
}

TEST(Json, a_hostile_key_cannot_break_the_message) {
    const std::string key = "\\n" + std::string(5000, 'x');
    const auto tree = parse_json("{\"" + key + "\":1,\"" + key + "\":2}", "f.json");
    expect_refused(tree, ErrorKind::file, {"'\\x0axxx", "...' twice"});
    EXPECT_LT(tree.error().message.size(), 200u);
}

TEST(Json, it_is_nested_at_most_64_levels) {
    const auto nested = [](size_t n) { return std::string(n, '[') + std::string(n, ']'); };
    EXPECT_TRUE(parse_json(nested(64), "f.json"));
    refused(nested(65), {"nested deeper than 64 levels", "before byte 65"});
    refused(std::string(1000000, '['), {"nested deeper than 64 levels"});
    std::string objects;
    for (int i = 0; i < 65; ++i) objects += "{\"a\":";
    refused(objects, {"nested deeper than 64 levels"});
}

TEST(Json, it_is_utf8) {
    refused("\"\xff\"", {"not valid JSON in UTF-8", "before byte 2"});
    refused("{\"\xc0\x80\":1}", {"not valid JSON in UTF-8"});
    refused("\"\xed\xa0\x80\"", {"not valid JSON in UTF-8"});
    refused(R"("\ud800")", {"not valid JSON in UTF-8"});
    EXPECT_TRUE(parse_json("\"\xc3\xa9\"", "f.json"));
}

TEST(Json, nothing_follows_it) {
    refused("{}x", {"before byte 3"});
    refused("1 2", {"before byte 3"});
    refused("[]]", {"before byte 3"});
    refused(std::string_view("{}\0", 3), {"has a NUL at byte 2"});
    refused(std::string_view("{}\0{}", 5), {"has a NUL at byte 2"});
}

TEST(Json, cut_anywhere_it_is_refused) {
    const std::string text = R"({"a":[1.5e-3,true,"\u00e9\n"],"b":{"c":null}})";
    ASSERT_TRUE(parse_json(text, "f.json"));
    for (size_t n = 0; n < text.size(); ++n)
        refused(text.substr(0, n), {"not valid JSON", "before byte " + std::to_string(n)});
}

TEST(Json, numbers_that_no_double_holds_and_words_that_are_none_are_refused) {
    for (const std::string_view text : {"1e999", "NaN", "Infinity", "01", "+1", ".5", "1.", "'a'",
                                        "{a:1}", "[1,]", "/**/1", "\v1"})
        refused(text, {"not valid JSON"});
}

}  // namespace
}  // namespace kvik
