#include "cli/repl/history_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "testing/scratch_folder.h"

namespace kvik::cli {
namespace {

using Entries = std::vector<std::string>;

Environment environment_of(std::string state, std::string home) {
    return [=](const std::string& name) -> std::optional<std::string> {
        if (name == "XDG_STATE_HOME" && !state.empty()) return state;
        if (name == "HOME" && !home.empty()) return home;
        return std::nullopt;
    };
}

TEST(HistoryFile, lies_in_the_folder_for_state) {
    EXPECT_EQ(history_path(environment_of("/s", "/h")), "/s/kvik/chat_history");
    EXPECT_EQ(history_path(environment_of("", "/h")), "/h/.local/state/kvik/chat_history");
    EXPECT_EQ(history_path(environment_of("relative", "/h")), "/h/.local/state/kvik/chat_history");
    EXPECT_EQ(history_path(environment_of("", "")), "");
}

TEST(HistoryFile, gives_back_what_was_appended_newlines_and_all) {
    const ScratchFolder folder;
    const HistoryFile file(folder.path("a/b/history"));
    EXPECT_EQ(file.load().value(), Entries{});
    const Entries entries = {"one", "two\nlines", "back\\slash \\n", "gr\xc3\xbc\xc3\x9f"};
    for (const std::string& entry : entries) ASSERT_TRUE(file.append(entry).has_value());
    EXPECT_EQ(file.load().value(), entries);
}

TEST(HistoryFile, is_for_its_owner_alone) {
    const ScratchFolder folder;
    const std::string path = folder.path("history");
    std::ofstream(path) << "old\n";
    ::chmod(path.c_str(), 0644);
    EXPECT_EQ(HistoryFile(path).load().value(), Entries{"old"});
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(HistoryFile, follows_no_link) {
    const ScratchFolder folder;
    std::ofstream(folder.path("other")) << "secret\n";
    std::filesystem::create_symlink(folder.path("other"), folder.path("history"));
    EXPECT_FALSE(HistoryFile(folder.path("history")).load().has_value());
    EXPECT_FALSE(HistoryFile(folder.path("history")).append("x").has_value());
}

TEST(HistoryFile, waits_for_no_pipe) {
    const ScratchFolder folder;
    ASSERT_EQ(::mkfifo(folder.path("history").c_str(), 0600), 0);
    EXPECT_FALSE(HistoryFile(folder.path("history")).load().has_value());
}

TEST(HistoryFile, forgets_the_oldest_when_it_has_grown_long) {
    const ScratchFolder folder;
    const HistoryFile file(folder.path("history"));
    {
        std::ofstream out(folder.path("history"));
        for (size_t i = 0; i <= kMostHistoryEntries; ++i) out << i << "\n";
    }
    const Entries entries = file.load().value();
    EXPECT_EQ(entries.size(), kMostHistoryEntries / 2);
    EXPECT_EQ(entries.back(), std::to_string(kMostHistoryEntries));
    EXPECT_EQ(file.load().value(), entries);
}

TEST(HistoryFile, reads_only_the_end_of_a_huge_file) {
    const ScratchFolder folder;
    {
        std::ofstream out(folder.path("history"));
        for (int i = 0; i < 30; ++i) out << std::string(100'000, 'x') << "\n";
        out << "last\n";
    }
    const Entries entries = HistoryFile(folder.path("history")).load().value();
    EXPECT_EQ(entries.size(), 11u);
    EXPECT_EQ(entries.back(), "last");
    EXPECT_LT(std::filesystem::file_size(folder.path("history")), kMostHistoryBytes);
}

TEST(HistoryFile, leaves_out_what_is_too_long_to_be_called_back) {
    const ScratchFolder folder;
    const HistoryFile file(folder.path("history"));
    ASSERT_TRUE(file.append(std::string(kMostHistoryEntryBytes + 1, 'x')).has_value());
    ASSERT_TRUE(file.append("short").has_value());
    EXPECT_EQ(file.load().value(), Entries{"short"});
}

TEST(HistoryFile, does_not_wait_for_a_lock_that_nobody_gives_back) {
    const ScratchFolder folder;
    const std::string path = folder.path("history");
    const HistoryFile file(path);
    ASSERT_TRUE(file.append("one").has_value());
    const int holder = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(::flock(holder, LOCK_EX), 0);
    for (const std::string& message :
         {file.load().error().message, file.append("two").error().message})
        EXPECT_NE(message.find("is locked by another program"), std::string::npos) << message;
    ::close(holder);
    EXPECT_EQ(file.load().value(), Entries{"one"});
}

TEST(HistoryFile, says_where_it_cannot_be_kept) {
    const auto refused = HistoryFile("/proc/none/history").load();
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().message.find("/proc/none"), std::string::npos);
}

}  // namespace
}  // namespace kvik::cli
