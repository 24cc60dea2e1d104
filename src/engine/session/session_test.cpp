#include "support/session_rig.h"
#include "testing/hash_model.h"

namespace kvik {

std::unique_ptr<Model> session_model(uint32_t vocab_size) {
    return std::make_unique<HashModel>(HashModelOptions{.vocab_size = vocab_size});
}

namespace {

TEST_F(SessionTest, goes_on_from_the_ids_that_were_picked) {
    const Said first = say("hello", how(12));
    const std::vector<TokenId> anew =
        engine_->tokenizer()->encode(first.text, Specials::recognised);
    ASSERT_NE(anew, first.ids) << "the answer must be one that is tokenised otherwise";
    const uint32_t n_before = first.summary.timings.n_prompt_tokens + 12;
    const Said second = say("again", how(3));
    EXPECT_EQ(session_.stats().n_kept_tokens, n_before);
    EXPECT_EQ(second.summary.timings.n_cached_tokens, n_before - 1);
    EXPECT_EQ(second.summary.timings.n_prompt_tokens, n_before + seam_to_again().size());
}

TEST_F(SessionTest, second_turn_has_the_bits_of_a_cold_run_of_its_ids) {
    const Said first = say("hello", how(12));
    const Said second = say("again", how(6));
    std::vector<TokenId> ids = *engine_->encode_chat({{"user", "hello"}});
    ids = joined(ids, first.ids);
    ids = joined(ids, seam_to_again());
    GenerateRequest request = how(6);
    request.prompt = ids;
    const auto cold = open();
    Stream stream = *cold->submit(request);
    const Said alone = read(stream);
    EXPECT_EQ(alone.summary.timings.n_cached_tokens, 0u);
    EXPECT_EQ(alone.ids, second.ids);
    EXPECT_EQ(alone.summary.logits_sha256, second.summary.logits_sha256);
}

TEST_F(SessionTest, keeps_the_partial_answer_of_a_cancelled_stream) {
    Stream stream = *session_.send("hello", how(300));
    const Said begun = read(stream, 3);
    stream.cancel();
    const Said rest = read(stream);
    ASSERT_EQ(session_.messages().size(), 2u);
    EXPECT_EQ(session_.messages()[1].role, "assistant");
    EXPECT_EQ(session_.messages()[1].content, begun.text + rest.text);
    const auto n_tokens = static_cast<uint32_t>(begun.ids.size() + rest.ids.size());
    say("again", how(1));
    EXPECT_EQ(session_.stats().n_kept_tokens, rest.summary.timings.n_prompt_tokens + n_tokens);
}

TEST_F(SessionTest, next_message_ends_an_answer_that_nobody_reads) {
    Stream unread = *session_.send("hello", how(300));
    read(unread, 1);
    say("again", how(1));
    EXPECT_EQ(session_.messages().size(), 4u);
}

TEST_F(SessionTest, keeps_no_message_that_got_an_error_or_no_answer) {
    say("hello", how(2));
    const auto refused = session_.send(std::string(900, 'z'), how(2));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().kind, ErrorKind::context);
    EXPECT_EQ(session_.messages().size(), 2u);
    say("hello", how(0));
    EXPECT_EQ(session_.messages().size(), 2u);
}

TEST_F(SessionTest, a_message_without_an_answer_costs_the_ledger_nothing) {
    const Said first = say("hello", how(12));
    say("hello", how(0));
    say("again", how(1));
    EXPECT_EQ(session_.stats().n_kept_tokens,
              first.summary.timings.n_prompt_tokens + 12 + kTurnEnd);
}

TEST_F(SessionTest, goes_on_from_what_a_stop_string_left_of_an_answer) {
    const Said whole = say("hello", how(12));
    ASSERT_TRUE(session_.reset_topic().has_value());
    GenerateRequest request = how(12);
    request.stop = {whole.text.substr(5, 3)};
    const Said cut = say("hello", request);
    EXPECT_EQ(cut.text, whole.text.substr(0, whole.text.find(request.stop[0])));
    EXPECT_EQ(session_.messages()[1].content, cut.text);
    const auto n_left = static_cast<uint32_t>(cut.text.size());  // each a token
    EXPECT_EQ(session_.stats().n_tokens, cut.summary.timings.n_prompt_tokens + n_left);
    const Said next = say("again", how(1));
    EXPECT_EQ(session_.stats().n_kept_tokens, cut.summary.timings.n_prompt_tokens + n_left);
    EXPECT_EQ(next.summary.timings.n_prompt_tokens,
              cut.summary.timings.n_prompt_tokens + n_left + seam_to_again().size());
}

TEST_F(SessionTest, tokenises_anew_when_the_system_message_changes) {
    say("hello", how(4));
    session_.set_system("be brief");
    say("again", how(1));
    EXPECT_EQ(session_.stats().n_kept_tokens, 0u);
    EXPECT_EQ(session_.messages()[0].content, "be brief");
    EXPECT_EQ(session_.messages().size(), 5u);
    say("and again", how(1));
    EXPECT_GT(session_.stats().n_kept_tokens, 0u);
    session_.set_system("be quick");  // as long as the other
    say("and again", how(1));
    EXPECT_EQ(session_.stats().n_kept_tokens, 0u);
    session_.set_system("");
    EXPECT_EQ(session_.messages()[0].role, "user");
}

TEST_F(SessionTest, another_topic_keeps_the_system_message_alone) {
    session_.set_system("be brief");
    say("hello", how(4));
    ASSERT_TRUE(session_.reset_topic().has_value());
    EXPECT_EQ(session_.messages().size(), 1u);
    EXPECT_EQ(session_.stats().n_tokens, 0u);
    EXPECT_EQ(say("hello", how(1)).summary.timings.n_prompt_tokens,
              engine_->encode_chat({{"system", "be brief"}, {"user", "hello"}})->size());
}

TEST_F(SessionTest, stops_where_the_template_ends_a_turn) {
    GenerateRequest request = how(UINT32_MAX);
    std::erase_if(request.sampling.logit_bias, [](const auto& bias) { return bias.first == kEnd; });
    request.sampling.logit_bias.emplace_back(kEnd, 4.0f);
    const Said said = say("hello", request);
    EXPECT_EQ(said.summary.reason, FinishReason::stop);
    EXPECT_EQ(std::count(said.ids.begin(), said.ids.end(), kEnd), 0);
    EXPECT_EQ(said.text.find("<|e|>"), std::string::npos);
}

// ---- going back ----

TEST_F(SessionTest, answers_anew_without_computing_any_of_the_conversation_again) {
    say("hello", how(12));
    const Said second = say("again", how(12));
    GenerateRequest other = how(12);
    other.sampling.seed = 8;
    const Said anew = said(session_.regenerate(other));
    EXPECT_EQ(anew.summary.timings.n_prompt_tokens, second.summary.timings.n_prompt_tokens);
    EXPECT_EQ(anew.summary.timings.n_cached_tokens, anew.summary.timings.n_prompt_tokens);
    EXPECT_EQ(session_.stats().n_kept_tokens, anew.summary.timings.n_prompt_tokens);
    EXPECT_NE(anew.ids, second.ids);
    ASSERT_EQ(session_.messages().size(), 4u);
    EXPECT_EQ(session_.messages()[3].content, anew.text);
}

TEST_F(SessionTest, an_answer_anew_has_the_bits_of_the_first_one_if_the_seed_is_the_same) {
    say("hello", how(6));
    const Said once = say("again", how(6));
    const Said twice = said(session_.regenerate(how(6)));
    EXPECT_EQ(twice.ids, once.ids);
    EXPECT_EQ(twice.summary.logits_sha256, once.summary.logits_sha256);
}

TEST_F(SessionTest, keeps_the_old_answer_if_no_new_one_comes) {
    say("hello", how(6));
    const std::vector<std::string> before = contents();
    said(session_.regenerate(how(0)));
    EXPECT_EQ(contents(), before);
    GenerateRequest wrong = how(6);
    wrong.sampling.temperature = -1;
    EXPECT_FALSE(session_.regenerate(wrong).has_value());
    EXPECT_EQ(contents(), before);
    EXPECT_FALSE(session_.edit(0, std::string(900, 'z'), how(2)).has_value());
    EXPECT_EQ(contents(), before);
}

TEST_F(SessionTest, has_nothing_to_answer_anew_before_the_first_message) {
    session_.set_system("be brief");
    const auto refused = session_.regenerate(how(1));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().kind, ErrorKind::usage);
}

TEST_F(SessionTest, answers_a_message_that_was_restored_without_an_answer) {
    session_.restore({{"user", "hello"}, {"assistant", "abc"}, {"user", "again"}});
    said(session_.regenerate(how(3)));
    ASSERT_EQ(session_.messages().size(), 4u);
    EXPECT_EQ(session_.messages()[2].content, "again");
}

TEST_F(SessionTest, goes_back_to_the_exact_ids_of_any_earlier_message) {
    const Said first = say("hello", how(12));
    say("again", how(12));
    say("again", how(12));
    session_.rewind(2);
    EXPECT_EQ(contents(), (std::vector<std::string>{"hello", first.text}));
    const uint32_t n_before = first.summary.timings.n_prompt_tokens + 12;
    EXPECT_EQ(session_.stats().n_tokens, n_before);
    const Said next = say("other", how(1));
    EXPECT_EQ(session_.stats().n_kept_tokens, n_before + kTurnEnd);
    EXPECT_GE(next.summary.timings.n_cached_tokens, n_before);
    session_.rewind(9);
    EXPECT_EQ(session_.messages().size(), 4u);
}

TEST_F(SessionTest, edits_a_message_and_leaves_what_followed) {
    const Said first = say("hello", how(12));
    say("again", how(4));
    say("again", how(4));
    const Said other = said(session_.edit(2, "other", how(4)));
    EXPECT_EQ(contents(), (std::vector<std::string>{"hello", first.text, "other", other.text}));
    EXPECT_EQ(session_.stats().n_kept_tokens,
              first.summary.timings.n_prompt_tokens + 12 + kTurnEnd);
}

TEST_F(SessionTest, edits_no_message_but_the_users) {
    session_.set_system("be brief");
    say("hello", how(4));
    for (const size_t index : {0u, 2u, 3u}) {
        const auto refused = session_.edit(index, "other", how(1));
        ASSERT_FALSE(refused.has_value()) << index;
        EXPECT_EQ(refused.error().kind, ErrorKind::usage);
    }
}

TEST_F(SessionTest, forks_go_their_own_ways_from_the_same_ids) {
    const Said first = say("hello", how(12));
    Session other = session_.fork();
    say("again", how(3));
    EXPECT_EQ(other.messages().size(), 2u);
    const Said there = said(other.send("other", how(3)));
    EXPECT_EQ(other.stats().n_kept_tokens, first.summary.timings.n_prompt_tokens + 12 + kTurnEnd);
    EXPECT_GE(there.summary.timings.n_cached_tokens, first.summary.timings.n_prompt_tokens + 11);
    EXPECT_EQ(session_.messages()[2].content, "again");
    EXPECT_EQ(other.messages()[2].content, "other");
}

TEST_F(SessionTest, finds_the_ids_again_when_an_old_system_message_comes_back) {
    session_.set_system("be brief");
    const Said first = say("hello", how(12));
    session_.set_system("be quick");
    session_.set_system("be brief");
    say("again", how(1));
    EXPECT_EQ(session_.stats().n_kept_tokens, first.summary.timings.n_prompt_tokens + 12);
}

TEST_F(SessionTest, restores_messages_by_their_text) {
    session_.restore({{"system", "be brief"}, {"user", "hello"}, {"assistant", "abc"}});
    EXPECT_EQ(session_.stats().n_tokens, 0u);
    const Said next = say("again", how(1));
    EXPECT_EQ(next.summary.timings.n_prompt_tokens, engine_
                                                        ->encode_chat({{"system", "be brief"},
                                                                       {"user", "hello"},
                                                                       {"assistant", "abc"},
                                                                       {"user", "again"}})
                                                        ->size());
}

}  // namespace
}  // namespace kvik
