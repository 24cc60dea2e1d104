// From the list of a repository to the files that are fetched, and what holds these to their word.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "hub/choose_files.h"
#include "hub/content_check.h"
#include "hub/http.h"
#include "hub/repo_listing.h"
#include "hub/server_errors.h"
#include "testing/expect_error.h"

namespace kvik::hub {
namespace {

const std::string kCommit(40, 'a');

RepoListing listing_of(const std::vector<std::string>& names) {
    RepoListing listing{.commit = kCommit};
    for (const std::string& name : names) listing.files.push_back({.name = name, .bytes = 1});
    return listing;
}

RepoRequest request_of(const std::string& text) {
    return *parse_repo_request(text);
}

TEST(RepoListing, what_the_server_says_is_taken_apart) {
    const std::string sha(64, 'b'), blob(40, 'c');
    const auto got = parse_listing(R"({"sha":")" + kCommit + R"(","siblings":[
            {"rfilename":"m.gguf","size":9,"blobId":")" +
                                       blob + R"(","lfs":{"sha256":")" + sha +
                                       R"(","size":7}},
            {"rfilename":"config.json","size":5,"blobId":")" +
                                       blob + R"("},
            {"rfilename":"odd","blobId":"../x","size":-1},
            {"rfilename":"../evil"},{"rfilename":"m.gguf"},{},3]})",
                                   "address");
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->commit, kCommit);
    EXPECT_EQ(got->n_unsafe, 4u);
    ASSERT_EQ(got->files.size(), 3u);
    EXPECT_EQ(got->files[0].bytes, 7u);
    EXPECT_EQ(got->files[0].sha256, sha);
    EXPECT_EQ(got->files[0].git_sha1, "");
    EXPECT_EQ(got->files[1].git_sha1, blob);
    EXPECT_EQ(got->files[2].git_sha1, "");
    EXPECT_EQ(got->files[2].bytes, 0u);
}

TEST(ChooseFiles, a_gguf_by_its_quantisation) {
    const RepoListing listing =
        listing_of({"m-Q4_K_M.gguf", "m-UD-Q4_K_M.gguf", "m-Q8_0.gguf", "mmproj-Q8_0.gguf",
                    "s-Q2_K-00001-of-00002.gguf", "s-Q2_K-00002-of-00002.gguf"});
    const std::pair<const char*, std::vector<std::string>> cases[] = {
        {"a/b", {"m-Q4_K_M.gguf"}},
        {"a/b:q4_k_m", {"m-Q4_K_M.gguf"}},
        {"a/b:UD-Q4_K_M", {"m-UD-Q4_K_M.gguf"}},
        {"a/b:Q2_K", {"s-Q2_K-00001-of-00002.gguf", "s-Q2_K-00002-of-00002.gguf"}},
        {"a/b/s-Q2_K-00002-of-00002.gguf",
         {"s-Q2_K-00001-of-00002.gguf", "s-Q2_K-00002-of-00002.gguf"}},
        {"a/b/m-Q8_0.gguf", {"m-Q8_0.gguf"}},
    };
    for (const auto& [text, names] : cases) {
        const auto got = choose_files(listing, request_of(text));
        ASSERT_TRUE(got) << text << ": " << got.error().message;
        std::vector<std::string> chosen;
        for (const RepoFile& file : got->files) chosen.push_back(file.name);
        EXPECT_EQ(chosen, names) << text;
        EXPECT_EQ(got->first, names.front()) << text;
    }
    EXPECT_EQ(choose_files(listing, request_of("a/b"))->name, "a/b:Q4_K_M");
    EXPECT_EQ(choose_files(listing, request_of("a/b@v1"))->name, "a/b@v1:Q4_K_M");
    expect_refused(choose_files(listing, request_of("a/b:Q5_0")), ErrorKind::usage,
                   {"no GGUF for Q5_0", ":Q8_0", ":UD-Q4_K_M"});
    expect_refused(choose_files(listing, request_of("a/b/mmproj-Q8_0.gguf")),
                   ErrorKind::unsupported, {"no GGUF model"});
    expect_refused(choose_files(listing_of({"x-Q4_0.gguf", "y-Q4_0.gguf"}), request_of("a/b:Q4_0")),
                   ErrorKind::usage, {"several GGUFs", "/'x-Q4_0.gguf'", "/'y-Q4_0.gguf'"});
    expect_refused(choose_files(listing_of({"s-Q2_K-00002-of-00002.gguf"}), request_of("a/b:Q2_K")),
                   ErrorKind::unsupported, {"1 of the 2 parts"});
}

TEST(ChooseFiles, a_directory_comes_with_its_configuration_last) {
    const auto got = choose_files(
        listing_of({"config.json", "model.safetensors", "tokenizer.json", "x/model.safetensors",
                    "pytorch_model.bin", "additional_chat_templates/rag.jinja"}),
        request_of("a/b"));
    ASSERT_TRUE(got) << got.error().message;
    ASSERT_EQ(got->files.size(), 4u);
    EXPECT_EQ(got->files.back().name, "config.json");
    EXPECT_EQ(got->name, "a/b");
    EXPECT_EQ(got->first, "");
    expect_refused(choose_files(listing_of({"config.json"}), request_of("a/b")),
                   ErrorKind::unsupported, {"neither a GGUF"});
    expect_refused(choose_files(listing_of({"config.json"}), request_of("a/b:Q4_0")),
                   ErrorKind::usage, {"no GGUF"});
}

std::string checked(const std::string& text, size_t n_digits) {
    ContentCheck check(std::string(n_digits, '0'), text.size());
    for (const char& c : text) check.update(std::as_bytes(std::span(&c, 1)));
    return check.finish();
}

TEST(ContentCheck, sha256_and_what_git_calls_a_blob) {
    EXPECT_EQ(checked("abc", 64),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    // printf 'hello\n' | git hash-object --stdin
    EXPECT_EQ(checked("hello\n", 40), "ce013625030ba8dba906f756967f9e9ca394464a");
    EXPECT_EQ(checked("", 40), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    EXPECT_TRUE(ContentCheck::is_checksum(std::string(64, 'f')));
    EXPECT_TRUE(ContentCheck::is_checksum(std::string(40, '0')));
    for (const std::string& text :
         {std::string(), std::string(63, '0'), std::string(40, 'g'), std::string(64, 'F')})
        EXPECT_FALSE(ContentCheck::is_checksum(text)) << text;
}

TEST(ServerErrors, waits_grow_and_end_and_heed_the_server) {
    const HttpReply busy{.status = 503};
    double before = 0;
    for (int n = 1; n < kMostTries; ++n) {
        const auto wait = wait_before_retry(busy, n);
        ASSERT_TRUE(wait);
        EXPECT_GT(*wait, before);
        before = *wait;
    }
    EXPECT_FALSE(wait_before_retry(busy, kMostTries));
    for (const long status : {400L, 401L, 403L, 404L, 416L})
        EXPECT_FALSE(wait_before_retry({.status = status}, 1)) << status;
    EXPECT_TRUE(wait_before_retry({.status = 200, .trouble = "cut"}, 1));
    EXPECT_EQ(wait_before_retry({.status = 429, .headers = {{"retry-after", "7"}}}, 1), 7);
    EXPECT_FALSE(wait_before_retry({.status = 429, .headers = {{"retry-after", "9999"}}}, 1));
    EXPECT_TRUE(wait_before_retry({.status = 429, .headers = {{"retry-after", "soon"}}}, 1));
}

TEST(Http, addresses_have_nothing_in_them_that_could_be_taken_for_a_part) {
    EXPECT_EQ(escaped_path("a/b-1.5_x~"), "a/b-1.5_x~");
    EXPECT_EQ(escaped_path("a b?c#d%\xc3\xa4&\x1b"), "a%20b%3Fc%23d%25%C3%A4%26%1B");
}

}  // namespace
}  // namespace kvik::hub
