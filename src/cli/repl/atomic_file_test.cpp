#include "cli/repl/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "testing/scratch_folder.h"

namespace kvik::cli {
namespace {

mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 0777;
}

TEST(AtomicFile, writes_a_new_file_for_its_owner_alone) {
    const ScratchFolder folder;
    ASSERT_TRUE(replace_file(folder.path("a"), "text").has_value());
    EXPECT_EQ(read_small_file(folder.path("a"), 100).value(), "text");
    EXPECT_EQ(mode_of(folder.path("a")), 0600u);
    EXPECT_EQ(folder.n_files(), 1u);
}

TEST(AtomicFile, keeps_the_mode_of_a_file_that_was_there) {
    const ScratchFolder folder;
    std::ofstream(folder.path("a")) << "old";
    ::chmod(folder.path("a").c_str(), 0640);
    ASSERT_TRUE(replace_file(folder.path("a"), "new").has_value());
    EXPECT_EQ(read_small_file(folder.path("a"), 100).value(), "new");
    EXPECT_EQ(mode_of(folder.path("a")), 0640u);
}

TEST(AtomicFile, replaces_what_a_link_points_to_and_not_the_link) {
    const ScratchFolder folder;
    std::ofstream(folder.path("a")) << "old";
    std::filesystem::create_symlink(folder.path("a"), folder.path("link"));
    ASSERT_TRUE(replace_file(folder.path("link"), "new").has_value());
    EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
    EXPECT_EQ(read_small_file(folder.path("a"), 100).value(), "new");
}

TEST(AtomicFile, replaces_nothing_but_a_regular_file) {
    const ScratchFolder folder;
    for (const std::string& path : {std::string("/dev/null"), folder.path("")}) {
        const auto refused = replace_file(path, "text");
        ASSERT_FALSE(refused.has_value()) << path;
        EXPECT_EQ(refused.error().kind, ErrorKind::file);
    }
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(AtomicFile, keeps_the_old_contents_when_there_is_no_room) {
    const ScratchFolder folder;
    ASSERT_TRUE(replace_file(folder.path("a"), "old").has_value());
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{.rlim_cur = 1024, .rlim_max = before.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto refused = replace_file(folder.path("a"), std::string(5000, 'x'));
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().message.find("make room"), std::string::npos);
    EXPECT_EQ(read_small_file(folder.path("a"), 100).value(), "old");
    EXPECT_EQ(folder.n_files(), 1u) << "what was begun is gone";
}

TEST(AtomicFile, gives_a_reader_no_advice_for_writers) {
    const ScratchFolder folder;
    const auto refused = read_small_file(folder.path("none"), 100);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().message.find("choose"), std::string::npos);
    const auto unwritten = replace_file(folder.path("none/a"), "text");
    ASSERT_FALSE(unwritten.has_value());
    EXPECT_NE(unwritten.error().message.find("choose a folder that exists"), std::string::npos);
}

TEST(AtomicFile, reads_no_more_than_it_was_told_to) {
    const ScratchFolder folder;
    std::ofstream(folder.path("a")) << std::string(100, 'x');
    EXPECT_TRUE(read_small_file(folder.path("a"), 100).has_value());
    EXPECT_FALSE(read_small_file(folder.path("a"), 99).has_value());
    EXPECT_FALSE(read_small_file("/dev/zero", 99).has_value());
    EXPECT_FALSE(read_small_file(folder.path("none"), 99).has_value());
}

}  // namespace
}  // namespace kvik::cli
