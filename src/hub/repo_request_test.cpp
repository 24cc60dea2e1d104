#include "hub/repo_request.h"

#include <gtest/gtest.h>

#include <string>

#include "testing/expect_error.h"

namespace kvik::hub {
namespace {

struct Case {
    const char *text, *repository, *revision, *quant, *file;
};

TEST(RepoRequest, the_forms_that_people_paste) {
    const Case cases[] = {
        {"hf:Owner/Repo", "Owner/Repo", "", "", ""},
        {"Owner/Repo", "Owner/Repo", "", "", ""},
        {"hf://Owner/Repo:Q4_0", "Owner/Repo", "", "Q4_0", ""},
        {"hf.co/Owner/Repo-1.5_x:Q4_0", "Owner/Repo-1.5_x", "", "Q4_0", ""},
        {"hf:Owner/Repo/dir/a.gguf", "Owner/Repo", "", "", "dir/a.gguf"},
        {"hf:Owner/Repo@v1:Q4_0", "Owner/Repo", "v1", "Q4_0", ""},
        {"hf:Owner/Repo@v1/a.gguf", "Owner/Repo", "v1", "", "a.gguf"},
        {"hf:Owner/Repo@refs/pr/3/a.gguf", "Owner/Repo", "refs/pr/3", "", "a.gguf"},
        {"hf:Owner/Repo@refs/pr/3", "Owner/Repo", "refs/pr/3", "", ""},
        {"https://huggingface.co/Owner/Repo", "Owner/Repo", "", "", ""},
        {"https://huggingface.co/Owner/Repo/", "Owner/Repo", "", "", ""},
        {"https://huggingface.co/Owner/Repo?library=x", "Owner/Repo", "", "", ""},
        {"https://huggingface.co/Owner/Repo/tree/main", "Owner/Repo", "main", "", ""},
        {"https://huggingface.co/Owner/Repo/resolve/v2/d/a.gguf?download=true", "Owner/Repo", "v2",
         "", "d/a.gguf"},
    };
    for (const Case& one : cases) {
        const auto got = parse_repo_request(one.text);
        ASSERT_TRUE(got) << one.text << ": " << got.error().message;
        EXPECT_EQ(got->repository, one.repository) << one.text;
        EXPECT_EQ(got->revision, one.revision) << one.text;
        EXPECT_EQ(got->quant, one.quant) << one.text;
        EXPECT_EQ(got->file, one.file) << one.text;
    }
    EXPECT_EQ(parse_repo_request("hf:Owner/Repo")->folder(), "models--Owner--Repo");
}

TEST(RepoRequest, what_is_none_is_refused) {
    for (const char* text : {"",
                             "hf:",
                             "gpt2",
                             "qwen2.5:0.5b",
                             "a/",
                             "/b",
                             "../b",
                             "a/..",
                             "a/.b",
                             "a/b-",
                             "a/b--c",
                             "a b/c",
                             "a/b@",
                             "a/b@../../x",
                             "a/b@-x",
                             "a/b:",
                             "a/b:x/y",
                             "a/b/../c",
                             "a/b//c",
                             "a/b/c\x1b",
                             "a/b/c\\d",
                             "ftp://huggingface.co/a/b",
                             "https://evil.example/a/b"})
        expect_refused(parse_repo_request(text), ErrorKind::usage, {"hf:OWNER/REPO"});
    expect_refused(parse_repo_request("a/" + std::string(97, 'b')), ErrorKind::usage, {});
}

TEST(RepoRequest, names_of_files_stay_below_their_folder) {
    for (const char* name : {"a", "a/b.gguf", "a b", "...", "a/..b", "\xc3\xa4"})
        EXPECT_TRUE(is_safe_file_name(name)) << name;
    for (const std::string& name :
         {std::string(), std::string("."), std::string(".."), std::string("/a"), std::string("a/"),
          std::string("a//b"), std::string("a/../b"), std::string("a/."), std::string("a\\b"),
          std::string("a\nb"), std::string("a\x7f"), std::string("a\0b", 3), std::string("\xff"),
          std::string(256, 'a'), "a/" + std::string(1100, '/')})
        EXPECT_FALSE(is_safe_file_name(name)) << name;
}

}  // namespace
}  // namespace kvik::hub
