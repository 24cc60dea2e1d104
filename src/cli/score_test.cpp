#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "cli/verbs.h"

namespace kvik::cli {
namespace {

TEST(Score, never_dumps_logits_over_the_model) {
    const std::string path = std::filesystem::temp_directory_path() /
                             ("kvik_score_" + std::to_string(::getpid()) + ".gguf");
    std::ofstream(path) << "weights";
    const std::string alias = path + ".npy";
    std::filesystem::create_symlink(path, alias);
    const std::array<std::string, 5> args = {path, "--ids", "1,2", "--dump-logits", alias};
    const auto done = score({args, [](const std::string&) { return std::nullopt; }});
    std::filesystem::remove(alias);
    EXPECT_EQ(std::filesystem::file_size(path), 7u);
    std::filesystem::remove(path);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::usage) << done.error().message;
}

}  // namespace
}  // namespace kvik::cli
