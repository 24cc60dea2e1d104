#include "engine/request/request_check.h"

#include <gtest/gtest.h>

#include "support/requests.h"
#include "support/toy_tokenizer.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

class RequestCheck : public ::testing::Test {
  protected:
    RequestCheck() {
        EngineOptions options = options_of(model_.spec().kv, 64, 16, 8);
        options.context = 512;
        settings_ = *resolve_settings(options, model_.spec());
        request_ = request_for({1, 2, 3}, 5);
    }
    Result<void> check(const Tokenizer* tokenizer = nullptr) {
        return check_request(request_, settings_, model_.spec(), tokenizer);
    }
    void expect_refused(ErrorKind kind, std::initializer_list<std::string> words,
                        const Tokenizer* tokenizer = nullptr) {
        const Result<void> checked = check(tokenizer);
        ASSERT_FALSE(checked.has_value());
        EXPECT_EQ(checked.error().kind, kind);
        for (const std::string& word : words) {
            EXPECT_NE(checked.error().message.find(word), std::string::npos)
                << checked.error().message << " does not say " << word;
        }
    }

    HashModel model_;
    EngineSettings settings_;
    GenerateRequest request_;
    ToyTokenizer tokenizer_{{"a", "b", "c"}};
};

TEST_F(RequestCheck, takes_a_right_request) {
    EXPECT_TRUE(check().has_value());
}

TEST_F(RequestCheck, refuses_an_empty_prompt) {
    request_.prompt.clear();
    expect_refused(ErrorKind::usage, {"prompt is empty"});
}

TEST_F(RequestCheck, refuses_an_id_outside_the_vocabulary) {
    for (const TokenId id : {-1, 101}) {
        request_.prompt[1] = id;
        expect_refused(ErrorKind::usage, {"token 1", std::to_string(id), "0 .. 100"});
    }
}

TEST_F(RequestCheck, refuses_sampling_out_of_its_range) {
    request_.sampling.temperature = -1;
    expect_refused(ErrorKind::usage, {"-1"});
}

TEST_F(RequestCheck, refuses_a_prompt_longer_than_the_context_naming_both) {
    request_.prompt.assign(513, 1);
    expect_refused(ErrorKind::context, {"513 tokens", "context is 512", "--ctx"});
}

TEST_F(RequestCheck, refuses_what_the_whole_cache_cannot_hold_naming_bytes_budget_and_flag) {
    const auto n_room = static_cast<uint32_t>(settings_.capacity());
    request_.max_new_tokens = n_room - 3 + 1;
    EXPECT_TRUE(check().has_value());
    request_.max_new_tokens += 1;
    expect_refused(
        ErrorKind::memory,
        {std::to_string((settings_.budget.n_blocks + 1) * settings_.kv.block_bytes()),
         std::to_string(settings_.budget.n_blocks * settings_.kv.block_bytes()), "--cache-ram"});
    request_.max_new_tokens = UINT32_MAX;
    expect_refused(ErrorKind::memory, {"--ctx"});
}

TEST_F(RequestCheck, refuses_an_empty_stop_string_and_a_seventeenth) {
    request_.stop = {"x", ""};
    expect_refused(ErrorKind::usage, {"empty"}, &tokenizer_);
    request_.stop.assign(17, "x");
    expect_refused(ErrorKind::usage, {"17", "16"}, &tokenizer_);
    request_.stop.assign(16, "x");
    EXPECT_TRUE(check(&tokenizer_).has_value());
}

TEST_F(RequestCheck, refuses_stop_strings_where_there_is_no_text) {
    request_.stop = {"x"};
    expect_refused(ErrorKind::unsupported, {"tokenizer"});
}

}  // namespace
}  // namespace kvik
