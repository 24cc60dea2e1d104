// Conversations that go apart: at a message, at a token, and on from where an answer was cut.
#include "support/session_rig.h"

namespace kvik {
namespace {

class SessionForkTest : public SessionTest {};

TEST_F(SessionForkTest, forks_at_any_message_with_the_ids_up_to_there) {
    const Said first = say("hello", how(12));
    say("again", how(4));
    Session other = session_.fork(2);
    EXPECT_EQ(other.messages().size(), 2u);
    EXPECT_EQ(other.stats().n_tokens, first.summary.timings.n_prompt_tokens + 12);
    said(other.send("other", how(2)));
    EXPECT_EQ(other.stats().n_kept_tokens, first.summary.timings.n_prompt_tokens + 12 + kTurnEnd);
    EXPECT_EQ(session_.messages().size(), 4u);
    EXPECT_EQ(session_.fork(9).messages().size(), 4u);
}

TEST_F(SessionForkTest, an_answer_that_was_cut_goes_on_as_if_it_had_not_been) {
    const Said whole = say("hello", how(12));
    ASSERT_TRUE(session_.reset_topic().has_value());
    say("hello", how(5));
    const Said rest = said(session_.resume(how(7)));
    EXPECT_EQ(session_.messages()[1].content, whole.text);
    EXPECT_EQ(rest.ids, std::vector<TokenId>(whole.ids.begin() + 5, whole.ids.end()));
    EXPECT_EQ(session_.stats().n_tokens, whole.summary.timings.n_prompt_tokens + 12);
    EXPECT_EQ(session_.messages().size(), 2u);
    say("again", how(1));
    EXPECT_EQ(session_.stats().n_kept_tokens, whole.summary.timings.n_prompt_tokens + 12);
}

TEST_F(SessionForkTest, an_answer_of_which_the_text_is_known_goes_on_from_its_ids) {
    const Said whole = say("hello", how(12));
    session_.restore({{"user", "hello"}, {"assistant", whole.text.substr(0, 5)}});
    const Said rest = said(session_.resume(how(7)));
    EXPECT_EQ(session_.messages().size(), 2u);
    EXPECT_EQ(session_.messages()[1].content, whole.text) << "a token is a letter here";
    EXPECT_EQ(rest.ids, std::vector<TokenId>(whole.ids.begin() + 5, whole.ids.end()));
    EXPECT_EQ(session_.stats().n_tokens, whole.summary.timings.n_prompt_tokens + 12);
    const Said more = said(session_.resume(how(3)));
    EXPECT_EQ(session_.messages()[1].content, whole.text + more.text);
}

TEST_F(SessionForkTest, goes_on_only_with_an_answer) {
    const auto is_refused = [&] {
        const auto refused = session_.resume(how(1));
        return !refused && refused.error().kind == ErrorKind::usage;
    };
    EXPECT_TRUE(is_refused());
    const Said said = say("hello", how(6));
    session_.rewind(1);
    EXPECT_TRUE(is_refused()) << "the last message is the user's";
}

TEST_F(SessionForkTest, forks_inside_of_an_answer_at_any_token_and_goes_on_with_the_same_bits) {
    say("hello", how(6));
    const Said whole = say("again", how(10));
    const uint32_t n_prompt = whole.summary.timings.n_prompt_tokens;
    for (uint32_t n = 1; n < 10; ++n) {
        auto other = session_.fork_at_token(n_prompt + n);
        ASSERT_TRUE(other.has_value()) << other.error().message;
        EXPECT_EQ(other->stats().n_tokens, n_prompt + n);
        EXPECT_EQ(other->messages().back().content, whole.text.substr(0, n));
        const Said rest = said(other->resume(how(10 - n)));
        EXPECT_EQ(rest.ids, std::vector<TokenId>(whole.ids.begin() + n, whole.ids.end()));
        EXPECT_EQ(rest.summary.timings.n_cached_tokens, n_prompt + n - 1)
            << "for the last one's logits";
        EXPECT_EQ(other->messages().back().content, whole.text);
    }
    EXPECT_EQ(session_.messages()[3].content, whole.text);
}

TEST_F(SessionForkTest, a_fork_inside_of_an_answer_can_also_be_answered_by_the_user) {
    const Said whole = say("hello", how(10));
    const uint32_t n_before = whole.summary.timings.n_prompt_tokens + 4;
    auto other = session_.fork_at_token(n_before);
    ASSERT_TRUE(other.has_value());
    const Said next = said(other->send("again", how(2)));
    EXPECT_EQ(other->stats().n_kept_tokens, n_before);
    EXPECT_EQ(next.summary.timings.n_prompt_tokens, n_before + seam_to_again().size());
}

TEST_F(SessionForkTest, forks_at_the_end_of_each_message_and_inside_of_none_but_answers) {
    session_.set_system("be brief");
    const Said first = say("hello", how(6));
    say("again", how(6));
    const uint32_t n_answer = first.summary.timings.n_prompt_tokens + 6;
    EXPECT_EQ(session_.fork_at_token(n_answer)->messages().size(), 3u);
    EXPECT_EQ(session_.fork_at_token(first.summary.timings.n_prompt_tokens)->messages().size(), 2u);
    for (const uint32_t n :
         {0u, 1u, first.summary.timings.n_prompt_tokens - 1, n_answer + 1, 999u}) {
        const auto refused = session_.fork_at_token(n);
        ASSERT_FALSE(refused.has_value()) << n;
        EXPECT_EQ(refused.error().kind, ErrorKind::usage);
    }
}

}  // namespace
}  // namespace kvik
