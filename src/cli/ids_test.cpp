#include "cli/ids.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace kvik::cli {
namespace {

using Ids = std::vector<TokenId>;

TEST(Ids, a_list_is_read_in_order) {
    EXPECT_EQ(parse_ids("1,2,3").value(), (Ids{1, 2, 3}));
    EXPECT_EQ(parse_ids("2147483647").value(), Ids{2147483647});
}

TEST(Ids, what_tokenize_prints_as_json_is_taken_back) {
    EXPECT_EQ(parse_ids("[1,2,3]").value(), (Ids{1, 2, 3}));
    EXPECT_EQ(parse_id_words("[1, 2]\r").value(), (Ids{1, 2}));
    EXPECT_FALSE(parse_ids("[1,2"));
    EXPECT_FALSE(parse_ids("[]"));
}

TEST(Ids, what_is_not_an_id_is_refused_by_name) {
    for (const char* text : {"", "1,,2", "1,", "-1", "1.5", "2147483648", "x"}) {
        const auto ids = parse_ids(text);
        ASSERT_FALSE(ids) << text;
        EXPECT_EQ(ids.error().kind, ErrorKind::usage) << text;
    }
}

TEST(Ids, a_json_list_is_checked_element_by_element) {
    EXPECT_EQ(parse_json_ids("[1, 2,3]", "it").value(), (Ids{1, 2, 3}));
    EXPECT_EQ(parse_json_ids("[]", "it").value(), Ids{});
    EXPECT_EQ(parse_json_ids("[1, -2]", "it").error().message,
              "it: element 1 is -2, not a token id");
    EXPECT_EQ(parse_json_ids("[[\"" + std::string(99, 'a') + "\"]]", "it").error().message,
              "it: element 0 is [\"" + std::string(38, 'a') + "..., not a token id");
    for (const char* text : {"{}", "7", "[1", "[1.0]", "[\"1\"]", "[2147483648]", "[null]"})
        EXPECT_FALSE(parse_json_ids(text, "it")) << text;
}

TEST(Ids, a_list_nested_without_end_is_refused) {
    EXPECT_EQ(parse_json_ids(std::string(1 << 20, '['), "it").error().message,
              "it is nested deeper than 64 at byte 64");
    EXPECT_EQ(parse_json_ids("[\"[[[\\\"[[\"]" + std::string(99, '['), "it").error().message,
              "it is nested deeper than 64 at byte 75");
}

TEST(Ids, a_number_past_all_doubles_is_refused) {
    EXPECT_EQ(parse_json_ids("[1, 1e999]", "it").error().message,
              "it has a number that fits no double");
}

TEST(Ids, an_at_sign_names_a_file) {
    const std::string path = std::filesystem::temp_directory_path() /
                             ("kvik_ids_" + std::to_string(::getpid()) + ".json");
    std::ofstream(path) << "[5, 6]\n";
    EXPECT_EQ(parse_ids("@" + path).value(), (Ids{5, 6}));
    std::ofstream(path) << "[]";
    EXPECT_EQ(parse_ids("@" + path).error().kind, ErrorKind::usage) << "an empty prompt";
    std::filesystem::remove(path);
    EXPECT_EQ(parse_ids("@" + path).error().kind, ErrorKind::file);
}

TEST(ReadFile, an_interrupt_ends_the_wait_for_the_writer_of_a_fifo) {
    const std::string path =
        std::filesystem::temp_directory_path() / ("kvik_fifo_" + std::to_string(::getpid()));
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    Interrupts interrupts;
    ::kill(::getpid(), SIGINT);
    const auto text = read_file(path, &interrupts);
    std::filesystem::remove(path);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().kind, ErrorKind::cancelled);
}

TEST(Ids, words_may_stand_apart_by_commas_or_spaces) {
    EXPECT_EQ(parse_id_words(" 1, 2\t3 ").value(), (Ids{1, 2, 3}));
    EXPECT_EQ(parse_id_words("").value(), Ids{});
    EXPECT_FALSE(parse_id_words("1 two"));
}

}  // namespace
}  // namespace kvik::cli
