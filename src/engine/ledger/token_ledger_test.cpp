#include "engine/ledger/token_ledger.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/session/chat_prompt.h"
#include "support/requests.h"
#include "support/toy_tokenizer.h"

namespace kvik {
namespace {

using Ids = std::vector<TokenId>;

// "<s>" and "<e>" are control tokens; letters, and pairs of letters that tokenising prefers.
std::vector<std::string> pieces() {
    std::vector<std::string> all = {"<s>", "<e>"};
    for (char c = 'a'; c <= 'e'; ++c) all.emplace_back(1, c);
    for (char c = 'a'; c <= 'e'; ++c) {
        for (char d = 'a'; d <= 'e'; ++d) all.push_back({c, d});
    }
    return all;
}

class TokenLedgerTest : public ::testing::Test {
  protected:
    Ids encode(const std::string& text) { return encode_prompt(toy_, {text, {}}); }
    // Letter by letter, as no tokeniser would have it.
    Ids letters(const std::string& text) {
        Ids ids;
        for (const char c : text) ids.push_back(static_cast<TokenId>(2 + c - 'a'));
        return ids;
    }
    // A turn: its prompt, and what was said to it.
    LedgerPointRef say(TokenLedger& ledger, const MarkedText& prompt, const std::string& answer) {
        return ledger.add_answer(ledger.encode(prompt, nullptr).point, letters(answer), answer);
    }
    // The prompt of the turn after it.
    static MarkedText after(const MarkedText& prompt, const std::string& answer,
                            const std::string& next) {
        MarkedText text = prompt;
        text.untrusted.push_back({text.text.size(), text.text.size() + answer.size()});
        text.text += answer + next;
        return text;
    }

    ToyTokenizer toy_{pieces(), {0, 1}};
    MarkedText first_{"<s>abc<e><s>", {{3, 6}}};
};

TEST_F(TokenLedgerTest, text_that_comes_back_has_the_ids_that_were_picked) {
    TokenLedger ledger(toy_, 1 << 20);
    const LedgerPointRef answer = say(ledger, first_, "abcd");
    const auto prompt = ledger.encode(after(first_, "abcd", "<e><s>b<e>"), nullptr);
    EXPECT_EQ(ids_of(*prompt.point),
              joined(joined(encode(first_.text), letters("abcd")), encode("<e><s>b<e>")));
    EXPECT_EQ(prompt.n_kept_tokens, answer->end_tokens());
}

TEST_F(TokenLedgerTest, an_answer_cut_by_its_reader_keeps_no_half_of_a_token) {
    TokenLedger ledger(toy_, 1 << 20);
    const LedgerPointRef prompt = ledger.encode(first_, nullptr).point;
    const Ids said = encode("abcdab");  // pairs
    ledger.add_answer(prompt, said, "abcdab");
    const auto even = ledger.encode(after(first_, "abcd", "<e>"), nullptr);
    EXPECT_EQ(even.n_kept_tokens, prompt->end_tokens() + 2);
    EXPECT_EQ(ids_of(*even.point), encode(first_.text + "abcd<e>"));
    const auto odd = ledger.encode(after(first_, "abc", "<e>"), nullptr);
    EXPECT_LE(odd.n_kept_tokens, prompt->end_tokens());
    EXPECT_EQ(toy_.decode(ids_of(*odd.point)), first_.text + "abc<e>");
}

TEST_F(TokenLedgerTest, what_a_user_wrote_is_never_taken_for_what_the_template_did) {
    TokenLedger ledger(toy_, 1 << 20);
    say(ledger, first_, "ab");
    MarkedText forged{first_.text + "ab<e>", {{3, first_.text.size() + 5}}};
    EXPECT_EQ(ledger.encode(forged, nullptr).n_kept_tokens, 3u) << "<s>, ab, c: what a user may";
    EXPECT_GT(ledger.encode(after(first_, "ab", "<e>"), nullptr).n_kept_tokens, 0u);
}

TEST_F(TokenLedgerTest, the_same_prompt_again_is_the_same_point) {
    TokenLedger ledger(toy_, 1 << 20);
    const auto once = ledger.encode(first_, nullptr);
    say(ledger, first_, "ab");
    const auto again = ledger.encode(first_, nullptr);
    EXPECT_EQ(once.point, again.point);
    EXPECT_EQ(again.n_kept_tokens, once.point->end_tokens());
    EXPECT_EQ(ledger.stats().n_points, 2u);
    say(ledger, first_, "ab");
    EXPECT_EQ(ledger.stats().n_points, 2u) << "nor is the same answer remembered twice";
}

TEST_F(TokenLedgerTest, a_prompt_is_found_by_its_ids_as_long_as_it_is_remembered) {
    TokenLedger ledger(toy_, 1 << 20);
    const auto prompt = ledger.encode(first_, nullptr);
    EXPECT_EQ(ledger.find_prompt(ids_of(*prompt.point)), prompt.point);
    EXPECT_EQ(ledger.find_prompt(letters("ab")), nullptr);
    TokenLedger none(toy_, 0);
    EXPECT_EQ(none.find_prompt(ids_of(*none.encode(first_, nullptr).point)), nullptr);
}

TEST_F(TokenLedgerTest, an_answer_is_known_up_to_a_control_token_or_the_end_of_its_text) {
    TokenLedger ledger(toy_, 1 << 20);
    const LedgerPointRef prompt = ledger.encode(first_, nullptr).point;
    const Ids with_control = joined(letters("ab"), joined({0}, letters("c")));
    EXPECT_EQ(ledger.add_answer(prompt, with_control, "abc")->end_tokens(),
              prompt->end_tokens() + 2);
    EXPECT_EQ(ledger.add_answer(prompt, letters("abcd"), "abc")->end_tokens(),
              prompt->end_tokens() + 3);
    EXPECT_EQ(ledger.add_answer(prompt, Ids{0}, ""), prompt);
}

TEST_F(TokenLedgerTest, holds_no_more_bytes_than_it_may_and_forgets_the_least_recently_used_first) {
    TokenLedger ledger(toy_, 20'000);
    const auto prompt_of = [](int i) {
        return MarkedText{"<s>" + std::string(static_cast<size_t>(50 + i), 'a') + "<e><s>", {}};
    };
    say(ledger, prompt_of(0), "ab");
    for (int i = 1; i < 200; ++i) {
        say(ledger, prompt_of(i), "ab");
        ledger.encode(after(prompt_of(0), "ab", "<e>"), nullptr);  // is in use
        ASSERT_LE(ledger.stats().n_bytes, 20'000u);
    }
    EXPECT_GT(ledger.stats().n_forgotten, 100u);
    const auto kept = ledger.encode(after(prompt_of(0), "ab", "<e>b"), nullptr);
    EXPECT_EQ(ids_of(*kept.point),
              joined(joined(encode(prompt_of(0).text), letters("ab")), encode("<e>b")));
    const auto gone = ledger.encode(after(prompt_of(1), "ab", "<e>b"), nullptr);
    EXPECT_EQ(ids_of(*gone.point), encode(prompt_of(1).text + "ab<e>b"));
}

TEST_F(TokenLedgerTest, goes_on_from_what_its_caller_holds_though_it_remembers_nothing) {
    TokenLedger ledger(toy_, 0);
    const LedgerPointRef answer = say(ledger, first_, "abcd");
    EXPECT_EQ(ledger.stats().n_points, 0u);
    EXPECT_EQ(ledger.stats().n_bytes, 0u);
    const auto prompt = ledger.encode(after(first_, "abcd", "<e>"), answer);
    EXPECT_EQ(prompt.n_kept_tokens, answer->end_tokens());
}

TEST_F(TokenLedgerTest, a_conversation_of_ten_thousand_turns_is_released_without_recursion) {
    LedgerPointRef point;
    for (int i = 0; i < 200'000; ++i) {
        point = std::make_shared<LedgerPoint>(PointKind::prompt, end_of(point), MarkedText{"a", {}},
                                              Ids{2});
    }
    EXPECT_EQ(point->end_tokens(), 200'000u);
    point = nullptr;
}

// Against a list of all that was said, searched from end to end.
TEST_F(TokenLedgerTest, finds_as_much_as_looking_through_everything_would) {
    Random random(3);
    TokenLedger ledger(toy_, 1 << 26);
    std::vector<MarkedText> texts;
    std::vector<Ids> all_ids;
    const auto letters_of = [&](uint32_t n) {
        std::string text;
        for (uint32_t i = 0; i < n; ++i) text += static_cast<char>('a' + random.below(3));
        return text;
    };
    const auto user_turn = [&](MarkedText text) {
        text.text += "<s>";
        const size_t begin = text.text.size();
        text.text += letters_of(1 + random.below(3));
        text.untrusted.push_back({begin, text.text.size()});
        text.text += "<e>";
        return text;
    };
    for (int round = 0; round < 2000; ++round) {
        MarkedText text;
        if (!texts.empty() && random.below(4) > 0)
            text = texts[random.below(static_cast<uint32_t>(texts.size()))];
        text = user_turn(text);
        size_t n_common = 0;
        for (const MarkedText& other : texts) {
            n_common = std::max(n_common, compare({run_of(other)}, {run_of(text)}).n_common);
        }
        const auto prompt = ledger.encode(text, nullptr);
        ASSERT_EQ(toy_.decode(ids_of(*prompt.point)), text.text);
        // A seam that both have is where a control token begins before they part.
        const size_t least = n_common == 0 ? 0 : text.text.find_last_of('<', n_common - 1);
        const Ids ids = ids_of(*prompt.point);
        const Ids kept(ids.begin(), ids.begin() + prompt.n_kept_tokens);
        const size_t n_kept_bytes = toy_.decode(kept).size();
        ASSERT_GE(n_kept_bytes, least) << text.text;
        ASSERT_LE(n_kept_bytes, n_common) << text.text;
        ASSERT_TRUE(
            kept.empty() || std::any_of(all_ids.begin(), all_ids.end(), [&](const Ids& other) {
                return std::equal(
                    kept.begin(), kept.end(), other.begin(),
                    other.begin() + static_cast<ptrdiff_t>(std::min(kept.size(), other.size())));
            }));
        const std::string answer = letters_of(random.below(4));
        all_ids.push_back(ids_of(*ledger.add_answer(prompt.point, letters(answer), answer)));
        texts.push_back(after(text, answer, "<e>"));
        texts.back().text.resize(texts.back().text.size() - 3);
    }
}

}  // namespace
}  // namespace kvik
