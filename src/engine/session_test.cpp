#include <gtest/gtest.h>

#include <limits>

#include "engine/rig/requests.h"
#include "engine/rig/toy_tokenizer.h"
#include "kvik/kvik.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

constexpr TokenId kStart = 0, kEnd = 1;
constexpr const char* kTemplate =
    "{% for m in messages %}<|s|>{{ m.role }}:{{ m.content }}<|e|>{% endfor %}"
    "{% if add_generation_prompt %}<|s|>assistant:{% endif %}";

// Letters, and pairs of letters: what was picked letter by letter is tokenised anew as pairs.
std::vector<std::string> pieces() {
    std::vector<std::string> all = {"<|s|>", "<|e|>", ":"};
    for (char c = 'a'; c <= 'z'; ++c) all.emplace_back(1, c);
    for (char c = 'a'; c <= 'z'; ++c) {
        for (char d = 'a'; d <= 'z'; ++d) all.push_back({c, d});
    }
    return all;
}

class SessionTest : public ::testing::Test {
  protected:
    SessionTest() : engine_(open()), session_(*engine_) {}

    static std::unique_ptr<Engine> open() {
        ModelText text;
        text.tokenizer =
            std::make_unique<ToyTokenizer>(pieces(), std::vector<TokenId>{kStart, kEnd});
        text.chat_template =
            std::make_unique<ChatTemplate>(std::move(*ChatTemplate::compile(kTemplate)));
        auto model = std::make_unique<HashModel>(
            HashModelOptions{.vocab_size = static_cast<uint32_t>(pieces().size())});
        EngineOptions options = options_of(model->spec().kv, 64, 16, 100);
        options.context = 400;
        return std::move(*Engine::over(std::move(model), std::move(text), options));
    }
    // Single letters only: no control token, no pair.
    static GenerateRequest how(uint32_t n_new) {
        GenerateRequest request = request_for({}, n_new);
        for (TokenId id = 0; id < static_cast<TokenId>(pieces().size()); ++id) {
            if (id < 3 || id >= 3 + 26) {
                request.sampling.logit_bias.emplace_back(id,
                                                         -std::numeric_limits<float>::infinity());
            }
        }
        return request;
    }
    struct Said {
        std::vector<TokenId> ids;
        std::string text;
        Summary summary;
    };
    static Said read(Stream& stream, size_t n_tokens = SIZE_MAX) {
        Said said;
        while (said.ids.size() < n_tokens) {
            auto event = stream.next();
            EXPECT_TRUE(event.has_value());
            if (!event || !*event) {
                said.summary = stream.summary();
                said.text += stream.tail();
                return said;
            }
            said.ids.push_back((*event)->id);
            said.text += (*event)->text;
        }
        return said;
    }
    Said say(const std::string& text, const GenerateRequest& request) {
        auto stream = session_.send(text, request);
        EXPECT_TRUE(stream.has_value());
        return read(*stream);
    }

    // From the end of an answer to the beginning of the next, the message being "again".
    std::vector<TokenId> seam_to_again() {
        return engine_->tokenizer()->encode("<|e|><|s|>user:again<|e|><|s|>assistant:",
                                            Specials::recognised);
    }

    std::unique_ptr<Engine> engine_;
    Session session_;
};

TEST_F(SessionTest, goes_on_from_the_ids_that_were_picked) {
    const Said first = say("hello", how(12));
    const std::vector<TokenId> anew =
        engine_->tokenizer()->encode(first.text, Specials::recognised);
    ASSERT_NE(anew, first.ids) << "the answer must be one that is tokenised otherwise";
    const uint32_t n_before = first.summary.timings.prompt_n + 12;
    const Said second = say("again", how(3));
    EXPECT_EQ(session_.stats().n_kept_tokens, n_before);
    EXPECT_EQ(second.summary.timings.cached_n, n_before - 1);
    EXPECT_EQ(second.summary.timings.prompt_n, n_before + seam_to_again().size());
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
    EXPECT_EQ(alone.summary.timings.cached_n, 0u);
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
    EXPECT_EQ(session_.stats().n_kept_tokens, rest.summary.timings.prompt_n + n_tokens);
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

TEST_F(SessionTest, tokenises_anew_after_an_answer_that_a_stop_string_cut) {
    const Said whole = say("hello", how(12));
    session_.clear();
    GenerateRequest request = how(12);
    request.stop = {whole.text.substr(5, 3)};
    const Said cut = say("hello", request);
    EXPECT_EQ(cut.text, whole.text.substr(0, whole.text.find(request.stop[0])));
    EXPECT_EQ(session_.messages()[1].content, cut.text);
    const Said next = say("again", how(1));
    EXPECT_EQ(session_.stats().n_kept_tokens, 0u);
    const auto ids =
        engine_->encode_chat({{"user", "hello"}, {"assistant", cut.text}, {"user", "again"}});
    EXPECT_EQ(next.summary.timings.prompt_n, ids->size());
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

TEST_F(SessionTest, clear_keeps_the_system_message_alone) {
    session_.set_system("be brief");
    say("hello", how(4));
    session_.clear();
    EXPECT_EQ(session_.messages().size(), 1u);
    EXPECT_EQ(session_.stats().n_tokens, 0u);
    EXPECT_EQ(say("hello", how(1)).summary.timings.prompt_n,
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

}  // namespace
}  // namespace kvik
