#include "engine/generate/answer.h"

#include <gtest/gtest.h>

#include "support/requests.h"
#include "support/step_rig.h"
#include "support/toy_tokenizer.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

AnswerLimits limits(std::vector<std::string> stop, uint32_t max_tokens = 100) {
    return {.end_tokens = {}, .stop = std::move(stop), .max_tokens = max_tokens};
}

TEST(Answer, stops_at_a_stop_string_that_crosses_tokens_and_keeps_those_before) {
    const ToyTokenizer tokenizer({"one ", "tw", "o th", "ree"});
    Answer answer(&tokenizer, limits({"two"}));
    EXPECT_EQ(answer.take(0), "one ");
    EXPECT_EQ(answer.take(1), "");
    EXPECT_FALSE(answer.ended());
    EXPECT_EQ(answer.take(2), "");
    EXPECT_EQ(answer.ended(), FinishReason::stop);
    EXPECT_EQ(answer.finish(), "");
    EXPECT_EQ(answer.n_tokens(), 3u);
    EXPECT_EQ(answer.n_kept(), 1u);
}

TEST(Answer, keeps_a_token_that_a_stop_string_cuts) {
    const ToyTokenizer tokenizer({"one", " two", " x"});
    Answer answer(&tokenizer, limits({"wo x"}));
    EXPECT_EQ(answer.take(0), "one");
    EXPECT_EQ(answer.take(1), " t");
    EXPECT_EQ(answer.take(2), "");
    EXPECT_EQ(answer.n_kept(), 2u);
}

TEST(Answer, flushes_held_text_and_unfinished_characters_at_its_end) {
    const ToyTokenizer tokenizer({"a", "st", "\xe2\x82"});
    Answer answer(&tokenizer, limits({"stop"}));
    EXPECT_EQ(answer.take(0), "a");
    EXPECT_EQ(answer.take(1), "");
    EXPECT_EQ(answer.take(2), "");
    EXPECT_EQ(answer.finish(), "st\xef\xbf\xbd");
}

TEST(Answer, ends_with_length_at_its_last_token_and_with_stop_if_both_come) {
    const ToyTokenizer tokenizer({"a", "b"});
    Answer plain(&tokenizer, limits({}, 2));
    plain.take(0);
    EXPECT_FALSE(plain.ended());
    plain.take(0);
    EXPECT_EQ(plain.ended(), FinishReason::length);
    Answer both(&tokenizer, limits({"b"}, 2));
    both.take(0);
    both.take(1);
    EXPECT_EQ(both.ended(), FinishReason::stop);
}

// ---- through the engine ----

// 101 short words in three scripts, some of them parts of a character.
ToyTokenizer random_words(Random& random) {
    const std::vector<std::string> parts = {"a",    "b",    "c",   " ", "\xc3\xa4", "\xe2\x82\xac",
                                            "\xe2", "\x82", "\xac"};
    std::vector<std::string> words(101);
    for (std::string& word : words) {
        for (uint32_t n = 1 + random.below(2); n > 0; --n) word += parts[random.below(9)];
    }
    return ToyTokenizer(words);
}

TEST(Answer, streamed_text_is_the_whole_text_cut_at_the_stop_string) {
    const HashModel model;
    Random random(9);
    int n_stopped = 0;
    for (int round = 0; round < 200; ++round) {
        SCOPED_TRACE(::testing::Message() << "seed 9, round " << round);
        const ToyTokenizer tokenizer = random_words(random);
        StepRig rig(model, options_of(model.spec().kv, 16, 16, 20), {&tokenizer, {}});
        GenerateRequest request = request_for(random_tokens(random, 5), 20, random.below(1000));
        const std::vector<TokenId> ids = rig.ask(request).ids;
        const std::string whole = tokenizer.decode(ids);
        request.stop = {whole.substr(random.below(static_cast<uint32_t>(whole.size())), 3), "zzz"};
        const StreamResult result = rig.ask(request);
        const size_t cut = whole.find(request.stop[0]);
        EXPECT_EQ(result.text, whole.substr(0, cut));
        EXPECT_EQ(result.text.find(request.stop[0]), std::string::npos);
        EXPECT_TRUE(std::equal(result.ids.begin(), result.ids.end(), ids.begin()));
        n_stopped += result.summary.reason == FinishReason::stop;
    }
    EXPECT_GT(n_stopped, 100);
}

TEST(Answer, tokens_after_a_stop_string_are_not_published) {
    const HashModel model;
    const ToyTokenizer tokenizer([] {
        std::vector<std::string> words(101);
        for (size_t i = 0; i < 101; ++i) words[i] = "<" + std::to_string(i) + ">";
        return words;
    }());
    StepRig rig(model, options_of(model.spec().kv, 16, 16, 20), {&tokenizer, {}});
    GenerateRequest request = request_for({1, 2, 3}, 12);
    request.cache = CachePolicy::off;  // to look ahead without leaving anything behind
    const std::vector<TokenId> ids = rig.ask(request).ids;
    request.cache = CachePolicy::reuse;
    request.stop = {tokenizer.decode(std::span(ids).subspan(4, 5))};
    const StreamResult result = rig.ask(request);
    ASSERT_EQ(result.ids.size(), 9u);
    const StreamResult next = rig.ask(request_for(joined({1, 2, 3}, ids), 1));
    EXPECT_EQ(next.summary.timings.n_cached_tokens, 3u + 4);
}

}  // namespace
}  // namespace kvik
