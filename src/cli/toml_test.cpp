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

TEST(Toml, values_come_in_the_order_of_their_lines_as_flags_take_them) {
    const auto read = read_toml(
        "temp = 0.5\nctx = 0x10\n"
        "[run]\nignore-eos = true\n"
        "[chat]\nsystem = \"a \\\"b\\\"\"\nstop = ['x', 7]\nctx = 1_000\n",
        "f");
    ASSERT_TRUE(read) << read.error().message;
    std::vector<std::string> got;
    for (const TomlEntry& entry : *read) got.push_back(shown(entry));
    EXPECT_EQ(got,
              (std::vector<std::string>{
                  "1 .temp '0.5'", "2 .ctx '16'", "3 run. no", "4 run.ignore-eos yes", "5 chat. no",
                  "6 chat.system 'a \"b\"'", "7 chat.stop <x><7>", "8 chat.ctx '1000'"}));
}

TEST(Toml, a_fraction_stays_one) {
    EXPECT_EQ(shown(read_toml("ctx = 8.0", "f").value()[0]), "1 .ctx '8.0'");
}

TEST(Toml, what_breaks_is_named_with_file_and_line) {
    EXPECT_EQ(refusal("a = 1\nb = [1,\n").substr(0, 14), "f:2: not TOML:");
    EXPECT_EQ(refusal("a = 1\na = 2\n").substr(0, 14), "f:2: not TOML:");
    EXPECT_EQ(refusal("\n[run]\n[run.x]\n"), "f:3: run.x is a table: a verb's table holds values");
    EXPECT_EQ(refusal("a = 1979-05-27\n"), "f:1: a: dates and times set nothing here");
    EXPECT_EQ(refusal("a = [1, [2]]\n"), "f:1: a: element 1 is neither a text nor a number");
}

TEST(Toml, any_bytes_are_read_or_refused) {
    const unsigned seed = 7;
    std::mt19937 random(seed);
    const std::string letters = "ab=[]{}.\"'\\\n#1-_ \xff\x01";
    for (int i = 0; i < 20000; ++i) {
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
