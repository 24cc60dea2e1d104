#include "cli/toml.h"

#include <gtest/gtest.h>

#include <random>

namespace kvik::cli {
namespace {

std::string shown(const TomlEntry& entry) {
    std::string text = std::to_string(entry.line) + " " + entry.table + "." + entry.key + " ";
    if (const bool* flag = std::get_if<bool>(&entry.value)) return text + (*flag ? "yes" : "no");
    if (const auto* word = std::get_if<std::string>(&entry.value)) return text + "'" + *word + "'";
    for (const std::string& part : std::get<std::vector<std::string>>(entry.value))
        text += "<" + part + ">";
    return text;
}

std::string refusal(std::string_view text) {
    const auto read = read_toml(text, "f");
    return read ? "accepted" : read.error().message;
}

// The text that `a = VALUE` gives.
std::string value(const std::string& written) {
    const auto read = read_toml("a = " + written + " # end", "f");
    if (!read) return read.error().message;
    return std::get<std::string>(read->at(0).value);
}

TEST(Toml, values_come_in_the_order_of_their_lines_as_flags_take_them) {
    const auto read = read_toml(
        "temp = 0.5\r\nctx = 0x10 # so many\n"
        "[ run ]\nignore-eos = true\n"
        "[chat]\nsystem = \"a \\\"b\\\"\"\nstop = ['x', 7,\n # more\n 'y',]\n'ctx' = 1_000\n",
        "f");
    ASSERT_TRUE(read) << read.error().message;
    std::vector<std::string> got;
    for (const TomlEntry& entry : *read) got.push_back(shown(entry));
    EXPECT_EQ(got,
              (std::vector<std::string>{
                  "1 .temp '0.5'", "2 .ctx '16'", "3 run. no", "4 run.ignore-eos yes", "5 chat. no",
                  "6 chat.system 'a \"b\"'", "7 chat.stop <x><7><y>", "10 chat.ctx '1000'"}));
}

TEST(Toml, a_dotted_key_is_a_key_of_a_table) {
    const auto read = read_toml("run.temp = 1\nctx = 2\n", "f");
    ASSERT_TRUE(read);
    EXPECT_EQ(shown(read->at(0)), "1 run.temp '1'");
    EXPECT_EQ(shown(read->at(1)), "2 .ctx '2'");
}

TEST(Toml, a_fraction_stays_one_and_a_number_loses_its_ornaments) {
    EXPECT_EQ(value("8.0"), "8.0");
    EXPECT_EQ(value("+1_000"), "1000");
    EXPECT_EQ(value("-1.5e-3"), "-1.5e-3");
    EXPECT_EQ(value("0b101"), "5");
    EXPECT_EQ(value("18446744073709551615"), "18446744073709551615");
    EXPECT_EQ(value("-inf"), "-inf");
}

TEST(Toml, what_is_no_number_is_not_taken_for_one) {
    for (const char* word :
         {"01",  "1.",   ".5",  "1__0", "_1",    "1_", "+-1", "--1", "1e",   "0x",
          "0xg", "-0x1", "yes", "tru",  "1.2.3", "e5", "+",   "1 2", "1e_3", "0x_f"})
        EXPECT_TRUE(value(word).starts_with("f:1: ")) << word;
}

TEST(Toml, texts_have_escapes_and_may_go_over_lines) {
    EXPECT_EQ(value(R"("\t\u00e9\U0001F600\\")"), "\t\xc3\xa9\xf0\x9f\x98\x80\\");
    EXPECT_EQ(value(R"('\t')"), "\\t");
    EXPECT_EQ(value("\"\"\"\none\n\"two\" \\\n   three\"\"\""), "one\n\"two\" three");
    EXPECT_EQ(value("'''a\\\r\nb''''"), "a\\\nb'");
    EXPECT_EQ(value("\"\""), "");
    EXPECT_EQ(value("\"gr\xc3\xb6\xc3\x9f"
                    "er\""),
              "gr\xc3\xb6\xc3\x9f"
              "er");
}

TEST(Toml, what_breaks_is_named_with_file_and_line) {
    EXPECT_EQ(refusal("a = 1\nb = [1,\n"), "f:3: the file ends as the value of b");
    EXPECT_EQ(refusal("a = 1\na = 2\n"), "f:2: 'a' is set twice");
    EXPECT_EQ(refusal("[run]\n\n[run]\n"), "f:3: [run] is there twice");
    EXPECT_EQ(refusal("run.a = 1\n[run]\n"), "f:2: [run] is there twice");
    EXPECT_EQ(refusal("run = 1\n[run]\n"), "f:2: run is a value and a table");
    EXPECT_EQ(refusal("\n[run]\n[run.x]\n"), "f:3: run.x is a table: a verb's table holds values");
    EXPECT_EQ(refusal("[run]\nx.y = 1\n"), "f:2: x is a table: a verb's table holds values");
    EXPECT_EQ(refusal("a = 1979-05-27\n"), "f:1: a: dates and times set nothing here");
    EXPECT_EQ(refusal("a = [1, [2]]\n"), "f:1: a: element 1 is neither a text nor a number");
    EXPECT_EQ(refusal("a = fast\n"), "f:1: a: fast is no value: a text stands in quotes");
    EXPECT_EQ(refusal("a : 1\n"), "f:1: ':' has no place where '=' follows a key");
    EXPECT_EQ(refusal("a = 1 b = 2\n"), "f:1: 'b' has no place after the value");
    EXPECT_EQ(refusal("a = \"x\nb = 1\n"), "f:1: a text does not end");
    EXPECT_EQ(refusal("a = \"\"\"x\nb = 1\n"), "f:1: a text does not end");
    EXPECT_EQ(refusal("gr\xc3\xb6sse = 1\n"),
              "f:1: '\xc3\xb6sse' has no place where '=' follows a key");
    EXPECT_EQ(refusal("a = '\x01'"), "f:1: a control character, \\x01");
    EXPECT_EQ(refusal("a = \"\\ud800\""), "f:1: \\ud800 is no character");
    EXPECT_EQ(refusal("a = '\xff'"), "f:1: the file is not UTF-8");
}

TEST(Toml, any_bytes_are_read_or_refused) {
    const unsigned seed = 7;
    std::mt19937 random(seed);
    const std::string letters = "ab=[]{}.\"'\\\r\n#1-_ u,\xc3\xa9\xff\x01";
    for (int i = 0; i < 50000; ++i) {
        std::string text;
        for (auto n = random() % 24; n > 0; --n) text += letters[random() % letters.size()];
        const auto read = read_toml(text, "f");
        if (!read) {
            EXPECT_EQ(read.error().kind, ErrorKind::usage) << "seed " << seed << ", text " << i;
        }
    }
}

}  // namespace
}  // namespace kvik::cli
