// Laws of both kinds of tokenizer: specs are checked, untrusted text writes no control token.
#include "text/tokenizer_vocab.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "text/tokenizer_test_support.h"

namespace kvik {
namespace {

using testing::below;
using testing::Random;
using Ids = std::vector<TokenId>;

std::vector<TokenizerSpec> both_kinds() {
    return {testing::tiny_bpe_spec(), testing::tiny_spm_spec()};
}

std::vector<ByteRange> random_ranges(Random& random, size_t n_bytes) {
    std::vector<ByteRange> ranges;
    for (size_t at = 0; at < n_bytes;) {
        const size_t begin = at + below(random, 12);
        const size_t end = begin + below(random, 12);
        if (end > n_bytes) break;
        ranges.push_back({begin, end});
        at = end;
    }
    return ranges;
}

bool is_untrusted(const std::vector<ByteRange>& ranges, size_t byte) {
    for (const ByteRange& range : ranges)
        if (byte >= range.begin && byte < range.end) return true;
    return false;
}

TokenizerSpec with_rule(TokenId id, FindRule rule) {
    TokenizerSpec spec = testing::tiny_bpe_spec();
    spec.rules.resize(spec.tokens.size());
    spec.rules[static_cast<size_t>(id)] = rule;
    return spec;
}

TEST(FindRule, takes_the_white_space_beside_a_token_into_it) {
    const auto ids = [](FindRule rule, std::string_view text) {
        return testing::tokenizer_of(with_rule(testing::kEnd, rule))
            ->encode(text, Specials::recognised);
    };
    const std::string text = "e \n<|end|>\xC2\xA0 e";
    EXPECT_EQ(ids({.takes_space_before = true}, text),
              (Ids{'e', testing::kEnd, 0xC2, 0xA0, ' ', 'e'}));
    EXPECT_EQ(ids({.takes_space_after = true}, text), (Ids{'e', ' ', '\n', testing::kEnd, 'e'}));
    // What an earlier token took is gone.
    EXPECT_EQ(ids({.takes_space_before = true, .takes_space_after = true}, " <|end|> <|end|> "),
              (Ids{testing::kEnd, testing::kEnd}));
}

TEST(FindRule, finds_a_normalised_token_in_the_normalised_text) {
    TokenizerSpec spec = with_rule(testing::kRule, {.normalized = true});
    spec.steps = {{NormalizerStep::Kind::replace, "[", "<"}};
    EXPECT_EQ(testing::tokenizer_of(spec)->encode("e[hr>", Specials::as_text),
              (Ids{'e', testing::kRule}));
    spec.rules.clear();
    EXPECT_EQ(testing::tokenizer_of(spec)->encode("e[hr>", Specials::as_text).size(), 5u);
    EXPECT_EQ(testing::tokenizer_of(spec)->encode("<hr>", Specials::as_text), Ids{testing::kRule});
}

TEST(FindRule, never_lets_normalisation_write_a_control_token) {
    TokenizerSpec spec = with_rule(testing::kEnd, {.normalized = true});
    spec.steps = {{NormalizerStep::Kind::replace, "[", "<"}};
    const auto tokenizer = testing::tokenizer_of(spec);
    for (TokenId id : tokenizer->encode("[|end|>", Specials::recognised))
        EXPECT_FALSE(tokenizer->is_control(id));
    EXPECT_EQ(tokenizer->encode("<|end|>", Specials::recognised), Ids{testing::kEnd});
    EXPECT_EQ(tokenizer->encode(MarkedText{"<|end|>", {{0, 7}}}).size(), 7u);
}

TEST(MarkedText, means_the_text_as_it_was_before_normalisation) {
    TokenizerSpec spec = testing::tiny_bpe_spec();
    spec.steps = {{NormalizerStep::Kind::nfc}, {NormalizerStep::Kind::replace, "\xC3\xA9", "the"}};
    const auto tokenizer = testing::tokenizer_of(spec);
    // Normalisation makes the text before the ranges shorter and longer.
    const std::string text = "e\xCC\x81<|end|>e\xCC\x81<|end|>";
    const TokenId the = *tokenizer->find("the");
    EXPECT_EQ(tokenizer->encode(MarkedText{text, {{13, text.size()}}}),
              (Ids{the, testing::kEnd, the, '<', '|', 'e', 'n', 'd', '|', '>'}));
}

TEST(MarkedText, makes_no_difference_where_no_control_token_stands) {
    for (const TokenizerSpec& spec : both_kinds()) {
        const auto tokenizer = testing::tokenizer_of(spec);
        for (uint64_t seed = 0; seed < 500; ++seed) {
            SCOPED_TRACE(spec.model + " " + std::to_string(seed));
            Random random(seed);
            const std::string text = testing::random_words(random, 50) + "<hr>";
            ASSERT_EQ(tokenizer->encode(MarkedText{text, random_ranges(random, text.size())}),
                      tokenizer->encode(text, Specials::recognised));
        }
    }
}

TEST(MarkedText, writes_a_control_token_exactly_where_no_byte_of_it_is_untrusted) {
    for (const TokenizerSpec& spec : both_kinds()) {
        const auto tokenizer = testing::tokenizer_of(spec);
        for (uint64_t seed = 0; seed < 1000; ++seed) {
            SCOPED_TRACE(spec.model + " " + std::to_string(seed));
            Random random(seed);
            std::string text;
            for (size_t n = below(random, 8); n > 0; --n)
                text += std::vector<std::string>{"<|start|>", "<|end|>", "the ", "<|",
                                                 "<hr>"}[below(random, 5)];
            const std::vector<ByteRange> ranges = random_ranges(random, text.size());
            Ids expected;
            for (size_t at = 0; at < text.size(); ++at) {
                for (TokenId id : {testing::kStart, testing::kEnd}) {
                    const std::string_view name = tokenizer->piece(id);
                    if (std::string_view(text).substr(at, name.size()) != name) continue;
                    bool trusted = true;
                    for (size_t i = at; i < at + name.size(); ++i)
                        trusted = trusted && !is_untrusted(ranges, i);
                    if (trusted) expected.push_back(id);
                }
            }
            Ids written;
            for (TokenId id : tokenizer->encode(MarkedText{text, ranges}))
                if (tokenizer->is_control(id)) written.push_back(id);
            ASSERT_EQ(written, expected);
        }
    }
}

TEST(MarkedText, is_plain_text_where_all_of_it_is_untrusted) {
    for (const TokenizerSpec& spec : both_kinds()) {
        const auto tokenizer = testing::tokenizer_of(spec);
        for (uint64_t seed = 0; seed < 500; ++seed) {
            SCOPED_TRACE(spec.model + " " + std::to_string(seed));
            Random random(seed);
            const std::string text = testing::random_text(random, 30);
            ASSERT_EQ(tokenizer->encode(MarkedText{text, {{0, text.size()}}}),
                      tokenizer->encode(text, Specials::as_text));
        }
    }
}

TEST(Tokenizer, replaces_what_is_not_utf8_when_it_decodes) {
    const auto tokenizer = testing::tokenizer_of(testing::tiny_bpe_spec());
    EXPECT_EQ(tokenizer->decode(Ids{'a', 0xE2, 0x96, 0x81, 0xC3, 'b', testing::kEnd, 0xF0}),
              "a\xE2\x96\x81\xEF\xBF\xBD"
              "b<|end|>\xEF\xBF\xBD");
}

// Qwen's embedding has some hundred rows more than there are tokens; a hot sampler can pick one.
TEST(Tokenizer, has_no_text_for_an_id_that_no_token_has) {
    const auto tokenizer = testing::tokenizer_of(testing::tiny_bpe_spec());
    const auto past = static_cast<TokenId>(tokenizer->n_tokens());
    for (const TokenId id : {past, past + 1000, TokenId{-1}}) {
        EXPECT_EQ(tokenizer->piece(id), "");
        EXPECT_TRUE(tokenizer->is_control(id));
    }
    EXPECT_EQ(tokenizer->decode(Ids{'a', past, 'b'}), "ab");
}

TEST(Tokenizer, knows_the_ids_of_note) {
    for (TokenizerSpec spec : both_kinds()) {
        spec.eot = testing::kEnd;
        spec.add_bos = true;
        const auto tokenizer = testing::tokenizer_of(spec);
        EXPECT_EQ(tokenizer->n_tokens(), spec.tokens.size());
        EXPECT_EQ(tokenizer->bos(), testing::kStart);
        EXPECT_EQ(tokenizer->eos(), testing::kEnd);
        EXPECT_EQ(tokenizer->eot(), testing::kEnd);
        EXPECT_TRUE(tokenizer->adds_bos());
        EXPECT_EQ(tokenizer->find("<|start|>"), testing::kStart);
        EXPECT_EQ(tokenizer->find("<|nowhere|>"), std::nullopt);
    }
}

// Files have tokens twice, which no text needs to be told apart by.
TEST(TokenizerSpec, of_a_token_twice_the_lower_id_stands) {
    size_t n_kinds = 0;
    for (TokenizerSpec spec : both_kinds()) {
        const auto once = testing::tokenizer_of(spec);
        const std::vector<TokenId> ids =
            once->encode("<|start|>the thing<|end|>", Specials::recognised);
        const size_t n = spec.tokens.size();
        for (const TokenType type :
             {TokenType::normal, TokenType::control, TokenType::user_defined, TokenType::unused})
            for (size_t id = 0; id < n; ++id) {
                if (spec.types[id] != type) continue;
                spec.tokens.push_back(spec.tokens[id]);
                spec.types.push_back(type);
                if (!spec.scores.empty()) spec.scores.push_back(spec.scores[id]);
            }
        const auto twice = testing::tokenizer_of(spec);
        EXPECT_GT(twice->n_tokens(), once->n_tokens());
        EXPECT_EQ(twice->encode("<|start|>the thing<|end|>", Specials::recognised), ids);
        for (TokenId id = static_cast<TokenId>(n); id < static_cast<TokenId>(twice->n_tokens());
             ++id)
            EXPECT_FALSE(twice->find(twice->piece(id)) == id) << id;
        ++n_kinds;
    }
    EXPECT_EQ(n_kinds, 2u);
}

struct Lie {
    const char* says;  // part of the message
    std::function<void(TokenizerSpec&)> tell;
};

TEST(TokenizerSpec, is_refused_with_the_field_and_the_index_where_it_lies) {
    const std::vector<Lie> lies = {
        {"tokens has 0", [](auto& s) { s.tokens.clear(), s.types.clear(), s.scores.clear(); }},
        {"types has 1 entries", [](auto& s) { s.types.resize(1); }},
        {"scores has 2 entries", [](auto& s) { s.scores.resize(2); }},
        {"types[3] is 9", [](auto& s) { s.types[3] = static_cast<TokenType>(9); }},
        {"types[3] is 0", [](auto& s) { s.types[3] = static_cast<TokenType>(0); }},
        {"scores[5] is not", [](auto& s) { s.scores.resize(s.tokens.size()), s.scores[5] = NAN; }},
        {"tokens[270] has 5000", [](auto& s) { s.tokens[270].assign(5000, 'x'); }},
        {"bos is 9999", [](auto& s) { s.bos = 9999; }},
        {"eos is -1", [](auto& s) { s.eos = -1; }},
        {"eot is 100000", [](auto& s) { s.eot = 100000; }},
        {"unk is -7", [](auto& s) { s.unk = -7; }},
    };
    for (const TokenizerSpec& good : both_kinds()) {
        EXPECT_EQ(testing::error_of(good), "");
        for (const Lie& lie : lies) {
            TokenizerSpec spec = good;
            lie.tell(spec);
            const std::string message = testing::error_of(spec);
            EXPECT_NE(message.find(lie.says), std::string::npos) << lie.says << ": " << message;
        }
    }
}

TEST(TokenizerSpec, is_refused_with_the_file_that_it_came_from) {
    TokenizerSpec spec = testing::tiny_bpe_spec();
    spec.source = "model.gguf";
    spec.merges.emplace_back("zz");
    EXPECT_TRUE(testing::error_of(spec).starts_with("model.gguf: tokenizer: merges[12]"));
    spec.model = "none";
    EXPECT_TRUE(testing::error_of(spec).starts_with("model.gguf: tokenizer model 'none'"));
}

TEST(TokenizerSpec, is_refused_as_unsupported_for_a_model_that_is_not_known) {
    TokenizerSpec spec = testing::tiny_bpe_spec();
    spec.model = "no-such";
    const auto tokenizer = make_tokenizer(spec);
    ASSERT_FALSE(tokenizer.has_value());
    EXPECT_EQ(tokenizer.error().kind, ErrorKind::unsupported);
    EXPECT_NE(tokenizer.error().message.find("no-such"), std::string::npos);
}

}  // namespace
}  // namespace kvik
