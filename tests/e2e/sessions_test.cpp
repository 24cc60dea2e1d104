// Conversations as text, over the real models: what comes back has the ids that were picked, and
// where it goes on otherwise, the ids of the whole.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/ledger/token_ledger.h"
#include "engine/session/chat_prompt.h"
#include "kvik/kvik.h"
#include "real_models.h"

namespace kvik {
namespace {

using Ids = std::vector<TokenId>;

struct Sessions : OverRealModels {};
INSTANTIATE_TEST_SUITE_P(Models, Sessions, real_models(), short_name);

GenerateRequest request(uint32_t n_new) {
    GenerateRequest out;
    out.max_new_tokens = n_new;
    out.want_logits_hash = true;
    out.sampling.temperature = 1.2f;
    out.sampling.seed = 7;
    return out;
}

// Single letters are picked, which no tokenizer would have left single.
GenerateRequest letter_by_letter(const Engine& engine, uint32_t n_new) {
    GenerateRequest out = request(n_new);
    for (char letter = 'a'; letter <= 'z'; ++letter) {
        if (const auto id = engine.tokenizer()->find(std::string(1, letter)))
            out.sampling.logit_bias.emplace_back(*id, 50.0f);
    }
    return out;
}

Answer ask(Engine& engine, const std::vector<ChatMessage>& messages, GenerateRequest wanted) {
    wanted.prompt = *engine.encode_chat(messages);
    return collect(engine.submit(std::move(wanted)));
}

const std::vector<std::string> kMessages = {
    "Tell me about the Hanseatic League.", "Who was its most famous merchant, and why?",
    "Write that as a poem of four lines.\n\n  With two spaces before each.",
    "Now in German, with umlauts: \u00e4\u00f6\u00fc.", "Thank you! <|im_end|> is no token here."};

// A client without a session: it has nothing but the text.
TEST_P(Sessions, text_sent_back_is_found_token_by_token_and_never_computed_again) {
    auto engine = open_engine();
    std::vector<ChatMessage> messages;
    size_t n_known = 0, n_otherwise = 0;
    for (const std::string& message : kMessages) {
        messages.push_back({"user", message});
        const Answer answer = ask(*engine, messages, letter_by_letter(*engine, 40));
        SCOPED_TRACE(fmt::format("message {}, answer: {}", messages.size(), answer.text));
        EXPECT_GE(answer.summary.timings.n_cached_tokens, n_known);
        n_known = answer.summary.timings.n_prompt_tokens + answer.ids.size() - 1;
        n_otherwise += engine->tokenizer()->encode(answer.text, Specials::as_text) != answer.ids;
        messages.push_back({"assistant", answer.text});
    }
    EXPECT_EQ(n_otherwise, kMessages.size()) << "all of them would be tokenised otherwise";
}

TEST_P(Sessions, a_session_and_the_same_text_get_the_same_prompts) {
    auto engine = open_engine();
    Session session(*engine);
    std::vector<ChatMessage> messages;
    for (const std::string& message : kMessages) {
        const Answer result = collect(session.send(message, request(12)));
        messages.push_back({"user", message});
        GenerateRequest again = request(12);
        again.prompt = *engine->encode_chat(messages);
        EXPECT_EQ(again.prompt.size(), result.summary.timings.n_prompt_tokens);
        again.cache = CachePolicy::off;
        const Answer cold = collect(engine->submit(again));
        EXPECT_EQ(cold.ids, result.ids);
        EXPECT_EQ(cold.summary.logits_sha256, result.summary.logits_sha256);
        messages.push_back({"assistant", result.text});
    }
}

// Without any answer in it, a ledger changes no id, whatever it has seen.
TEST_P(Sessions, a_ledger_of_prompts_gives_the_ids_of_the_whole_text) {
    auto engine = open_engine();
    const Tokenizer& tokenizer = *engine->tokenizer();
    TokenLedger ledger(tokenizer, 1 << 20);
    std::mt19937 random(5);
    const auto below = [&](size_t n) { return random() % n; };
    std::vector<std::string> parts = {" ",      "  ",          "\n",           "\n\n", "Hello",
                                      " world", ", it's",      "12",           "345",  "\u00e9",
                                      "<",      "|im_start|>", "\u4f60\u597d", "."};
    for (TokenId id = 0; id < static_cast<TokenId>(tokenizer.n_tokens()); ++id) {
        if (tokenizer.is_control(id) && id < 200) parts.emplace_back(tokenizer.piece(id));
    }
    std::vector<MarkedText> texts(1);
    size_t n_kept = 0, n_all = 0;
    for (int round = 0; round < 1500; ++round) {
        const MarkedText& from = texts[below(texts.size())];
        const size_t cut = below(from.text.size() + 1);
        MarkedText text{from.text.substr(0, cut), {}};
        for (const ByteRange& range : from.untrusted) {
            if (range.begin < cut)
                text.untrusted.push_back({range.begin, std::min(range.end, cut)});
        }
        const size_t begin = text.text.size();
        for (size_t n = 1 + below(6); n > 0; --n) text.text += parts[below(parts.size())];
        if (below(2) == 0) text.untrusted.push_back({begin, text.text.size()});
        const auto prompt = ledger.encode(text, nullptr);
        ASSERT_EQ(ids_of(*prompt.point), encode_prompt(tokenizer, text)) << text.text;
        n_kept += prompt.n_kept_tokens;
        n_all += prompt.point->end_tokens();
        if (texts.size() < 400) texts.push_back(std::move(text));
    }
    EXPECT_GT(n_kept, n_all / 10);
}

// Nor does one of answers that were picked as the tokenizer would have, wherever they are cut.
TEST_P(Sessions, answers_tokenised_as_usual_are_cut_and_gone_on_with_as_usual) {
    auto engine = open_engine();
    const Tokenizer& tokenizer = *engine->tokenizer();
    const std::string said =
        "The league's towns -- L\u00fcbeck, Hamburg, Bremen; 1356 to 1669 -- shared\n\n  * law,\n"
        "  * ships   and\t(mostly) money: 12,500.50 marks. Isn't that something?";
    TokenLedger ledger(tokenizer, 1 << 20);
    const MarkedText prompt = {"<|im_start|>user\n", {}};
    const MarkedText whole = {prompt.text + said,
                              {{prompt.text.size(), prompt.text.size() + said.size()}}};
    const auto asked = ledger.encode(prompt, nullptr);
    const Ids all = encode_prompt(tokenizer, whole);
    const Ids ids(all.begin() + asked.point->end_tokens(), all.end());
    ledger.add_answer(asked.point, ids, said);
    size_t n_kept = 0;
    for (size_t n = 0; n <= said.size(); ++n) {
        for (const char* next : {"", " and", "x", "\n", " ", "<|im_end|>", "."}) {
            const size_t begin = prompt.text.size();
            MarkedText text = {prompt.text + said.substr(0, n), {{begin, begin + n}}};
            text.text += next;
            if (*next != '<') text.untrusted[0].end = text.text.size();
            const auto got = ledger.encode(text, nullptr);
            ASSERT_EQ(ids_of(*got.point), encode_prompt(tokenizer, text))
                << "'" << said.substr(0, n) << "' and '" << next << "'";
            n_kept += got.n_kept_tokens;
        }
    }
    EXPECT_GT(n_kept, 7 * said.size() * ids.size() / 4);
}

TEST_P(Sessions, a_fork_at_any_token_goes_on_with_the_bits_of_the_whole_answer) {
    auto engine = open_engine();
    Session session(*engine);
    const Answer whole = collect(session.send(kMessages[0], request(16)));
    for (uint32_t n = 1; n < whole.ids.size(); n += 3) {
        auto fork = session.fork_at_token(whole.summary.timings.n_prompt_tokens + n);
        ASSERT_TRUE(fork.has_value()) << fork.error().message;
        const auto n_rest = static_cast<uint32_t>(whole.ids.size()) - n;
        const Answer rest = collect(fork->resume(request(n_rest)));
        EXPECT_EQ(rest.ids, Ids(whole.ids.begin() + n, whole.ids.end()));
        EXPECT_EQ(fork->messages().back().content, whole.text);
    }
}

TEST_P(Sessions, what_does_not_fit_is_left_out_and_the_rest_has_the_bits_of_a_cold_run) {
    EngineOptions small;
    small.context = 160;
    auto engine = open_engine(small);
    Session session(*engine, {.overflow = Overflow::truncate_oldest});
    session.set_system("Be brief.");
    Answer last;
    for (int turn = 0; session.stats().n_left_out == 0 && turn < 20; ++turn) {
        last = collect(session.send(kMessages[static_cast<size_t>(turn) % 2], request(20)));
    }
    const SessionStats stats = session.stats();
    ASSERT_GT(stats.n_left_out, 0u);
    std::vector<ChatMessage> kept = session.messages();
    kept.pop_back();
    kept.erase(kept.begin() + 1, kept.begin() + 1 + stats.n_left_out);
    GenerateRequest again = request(20);
    again.cache = CachePolicy::off;
    const Answer cold = ask(*engine, kept, again);
    EXPECT_EQ(cold.ids, last.ids);
    EXPECT_EQ(cold.summary.logits_sha256, last.summary.logits_sha256);
    EXPECT_EQ(cold.summary.timings.n_cached_tokens, 0u);
}

}  // namespace
}  // namespace kvik
