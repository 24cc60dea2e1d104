#include "cli/repl/completion.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "testing/scratch_folder.h"

namespace kvik::cli {
namespace {

TEST(Completion, words_go_on_as_far_as_they_agree) {
    const std::vector<std::string> known = {"/regen", "/redo", "/reset", "/undo"};
    EXPECT_EQ(common_rest(complete_word("/u", known)), "ndo ");
    EXPECT_EQ(common_rest(complete_word("/r", known)), "e");
    EXPECT_EQ(common_rest(complete_word("/re", known)), "");
    EXPECT_EQ(complete_word("/re", known).words.size(), 3u);
    EXPECT_EQ(common_rest(complete_word("/x", known)), "");
}

TEST(Completion, paths_are_those_of_the_folder) {
    const ScratchFolder home;
    for (const char* name :
         {"chat.json", "charts", ".hidden", "bad\x1bname", "gr\xc3\xbc", "gr\xc3\xb6"})
        std::ofstream(home.path(name)) << "x";
    std::filesystem::create_directory(home.path("folder"));
    const std::string here = home.path("");
    EXPECT_EQ(common_rest(complete_path(here + "ch", "")), "a");
    EXPECT_EQ(common_rest(complete_path(here + "chat", "")), ".json ");
    EXPECT_EQ(common_rest(complete_path(here + "fo", "")), "lder/");
    EXPECT_EQ(complete_path(here, "").words.size(), 5u) << "neither the hidden nor the bad one";
    EXPECT_EQ(common_rest(complete_path(here + ".h", "")), "idden ");
    EXPECT_EQ(common_rest(complete_path(here + "gr", "")), "") << "half a character is none";
    const std::string above = here.substr(0, here.find_last_not_of('/') + 1);
    EXPECT_EQ(complete_path("~/ch", above).words,
              (std::vector<std::string>{"~/charts", "~/chat.json"}));
    EXPECT_TRUE(complete_path("/nowhere/x", "").words.empty());
}

}  // namespace
}  // namespace kvik::cli
