#include "cli/repl/autosave.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "cli/repl/atomic_file.h"
#include "testing/scratch_folder.h"

namespace kvik::cli {
namespace {

namespace fs = std::filesystem;

size_t n_files(const std::string& folder) {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(Autosave, the_latest_conversation_of_a_model_is_found_again) {
    const ScratchFolder home;
    const std::string folder = home.path("state/chats");
    Autosave a(folder, "/models/a.gguf"), b(folder, "/models/b.gguf");
    EXPECT_FALSE(a.latest());
    ASSERT_TRUE(a.save("one").has_value());
    ASSERT_TRUE(b.save("other").has_value());
    EXPECT_EQ(*read_small_file(*Autosave(folder, "/models/a.gguf").latest(), 100), "one");
    ASSERT_TRUE(a.save("two").has_value());
    EXPECT_EQ(n_files(folder), 2u) << "one file for a conversation";
    struct stat status {};
    ASSERT_EQ(::stat(a.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    ASSERT_EQ(::stat(folder.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);

    Autosave again(folder, "/models/a.gguf");
    again.go_on_with(*again.latest());
    ASSERT_TRUE(again.save("three").has_value());
    EXPECT_EQ(*read_small_file(a.path(), 100), "three");
    again.begin_another();
    ASSERT_TRUE(again.save("three").has_value());
    EXPECT_EQ(n_files(folder), 3u);
}

TEST(Autosave, the_oldest_go) {
    const ScratchFolder home;
    const std::string folder = home.path("chats");
    Autosave one(folder, "/m.gguf");
    ASSERT_TRUE(one.save("first").has_value());
    const std::string first = one.path();
    fs::last_write_time(first, fs::file_time_type::clock::now() - std::chrono::hours(1));
    for (size_t i = 0; i < kMostKeptChats; ++i) {
        one.begin_another();
        ASSERT_TRUE(one.save("more").has_value());
    }
    EXPECT_EQ(n_files(folder), kMostKeptChats);
    EXPECT_FALSE(fs::exists(first));
}

TEST(Autosave, names_what_cannot_be_written) {
    Autosave nowhere("/proc/nowhere", "a\x1b.gguf");
    const auto done = nowhere.save("x");
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("/proc/nowhere"), std::string::npos);
    EXPECT_TRUE(nowhere.path().empty());
}

}  // namespace
}  // namespace kvik::cli
