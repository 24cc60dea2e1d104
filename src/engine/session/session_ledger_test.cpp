// What a client without a session sends: its whole conversation, as text.
#include "support/session_rig.h"

namespace kvik {
namespace {

class SessionLedgerTest : public SessionTest {
  protected:
    Said ask(const std::vector<ChatMessage>& messages, GenerateRequest request) {
        request.prompt = *engine_->encode_chat(messages);
        return said(engine_->submit(std::move(request)));
    }
};

TEST_F(SessionLedgerTest, a_conversation_sent_back_as_text_finds_the_ids_that_were_picked) {
    const Said first = ask({{"user", "hello"}}, how(12));
    const uint32_t n_before = first.summary.timings.n_prompt_tokens + 12;
    const std::vector<ChatMessage> messages = {
        {"user", "hello"}, {"assistant", first.text}, {"user", "again"}};
    ASSERT_NE(engine_->tokenizer()->encode(first.text, Specials::recognised), first.ids);
    const auto prompt = *engine_->encode_chat(messages);
    EXPECT_TRUE(std::equal(first.ids.begin(), first.ids.end(),
                           prompt.begin() + first.summary.timings.n_prompt_tokens));
    const Said second = ask(messages, how(3));
    EXPECT_EQ(second.summary.timings.n_prompt_tokens, n_before + seam_to_again().size());
    EXPECT_EQ(second.summary.timings.n_cached_tokens, n_before - 1)
        << "a miss would be computed again";
}

TEST_F(SessionLedgerTest, a_session_and_a_client_without_one_find_each_others_words) {
    const Said first = say("hello", how(12));
    const Said second =
        ask({{"user", "hello"}, {"assistant", first.text}, {"user", "again"}}, how(9));
    EXPECT_EQ(second.summary.timings.n_cached_tokens, first.summary.timings.n_prompt_tokens + 11);
    session_.restore({{"user", "hello"},
                      {"assistant", first.text},
                      {"user", "again"},
                      {"assistant", second.text}});
    const Said third = say("again", how(1));
    EXPECT_EQ(third.summary.timings.n_cached_tokens, second.summary.timings.n_prompt_tokens + 8);
}

TEST_F(SessionLedgerTest, uses_what_is_common_where_a_client_cut_an_answer_or_left_its_start_out) {
    const Said first = ask({{"user", "hello"}}, how(12));
    const uint32_t n_prompt = first.summary.timings.n_prompt_tokens;
    const Said cut =
        ask({{"user", "hello"}, {"assistant", first.text.substr(0, 7)}, {"user", "again"}}, how(1));
    EXPECT_EQ(cut.summary.timings.n_cached_tokens, n_prompt + 7);
    const auto stripped = *engine_->encode_chat(
        {{"user", "hello"}, {"assistant", first.text.substr(5)}, {"user", "again"}});
    EXPECT_EQ(engine_->tokenizer()->decode(stripped),
              "<|s|>user:hello<|e|><|s|>assistant:" + first.text.substr(5) +
                  "<|e|><|s|>user:again<|e|><|s|>assistant:");
}

// One template strips what was thought from answers before the last, one marks the last message.
TEST_F(SessionLedgerTest,
       whatever_prefix_is_truly_common_is_used_though_a_template_changes_the_past) {
    for (const char* changing :
         {"{% for m in messages %}<|s|>{{ m.role }}:{{ m.content.split('e')[-1] if m.role == "
          "'assistant' else m.content }}<|e|>{% endfor %}<|s|>assistant:",
          "{% for m in messages %}<|s|>{{ m.role }}:{{ m.content }}{% if loop.last %}now"
          "{% endif %}<|e|>{% endfor %}<|s|>assistant:"}) {
        engine_ = open(400, 1 << 20, changing);
        std::vector<ChatMessage> messages;
        std::vector<TokenId> before;
        uint32_t n_found = 0;
        for (int turn = 0; turn < 4; ++turn) {
            messages.push_back({"user", "hello there"});
            const auto prompt = *engine_->encode_chat(messages);
            const auto differ =
                std::mismatch(before.begin(), before.end(), prompt.begin(), prompt.end());
            const auto n_common = static_cast<uint32_t>(differ.first - before.begin());
            const Said answer = ask(messages, how(12));
            EXPECT_GE(answer.summary.timings.n_cached_tokens, n_common);
            n_found = answer.summary.timings.n_cached_tokens;
            before = joined(prompt, answer.ids);
            before.pop_back();  // it was picked and never computed
            messages.push_back({"assistant", answer.text});
        }
        EXPECT_GT(n_found, 40u);
    }
}

TEST_F(SessionLedgerTest, remembers_nothing_where_it_may_not) {
    for (const uint64_t n_bytes : {uint64_t{0}, uint64_t{1} << 20}) {
        const auto engine = open(400, n_bytes);
        GenerateRequest request = how(12);
        request.prompt = *engine->encode_chat({{"user", "hello"}});
        const auto first = said(engine->submit(request));
        const auto next =
            *engine->encode_chat({{"user", "hello"}, {"assistant", first.text}, {"user", "again"}});
        const bool found = std::equal(first.ids.begin(), first.ids.end(),
                                      next.begin() + first.summary.timings.n_prompt_tokens);
        EXPECT_EQ(found, n_bytes > 0);
    }
}

}  // namespace
}  // namespace kvik
