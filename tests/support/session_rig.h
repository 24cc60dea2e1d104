// SessionTest: for tests of conversations: a made-up model with words and a template, an engine
// over it and a session.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kvik/kvik.h"
#include "support/requests.h"
#include "support/toy_tokenizer.h"

namespace kvik {

inline constexpr TokenId kStart = 0, kEnd = 1;
inline constexpr uint32_t kTurnEnd = 1;  // tokens that come after any answer
inline constexpr const char* kTurns =
    "{% for m in messages %}<|s|>{{ m.role }}:{{ m.content }}<|e|>{% endfor %}"
    "{% if add_generation_prompt %}<|s|>assistant:{% endif %}";

// Letters, and pairs of letters: what was picked letter by letter is tokenised anew as pairs.
inline std::vector<std::string> session_pieces() {
    std::vector<std::string> all = {"<|s|>", "<|e|>", ":"};
    for (char c = 'a'; c <= 'z'; ++c) all.emplace_back(1, c);
    for (char c = 'a'; c <= 'z'; ++c) {
        for (char d = 'a'; d <= 'z'; ++d) all.push_back({c, d});
    }
    return all;
}

std::unique_ptr<Model> session_model(uint32_t vocab_size);  // session_test.cpp has one

class SessionTest : public ::testing::Test {
  protected:
    SessionTest() : engine_(open()), session_(*engine_) {}

    static std::unique_ptr<Engine> open(uint32_t context = 400, uint64_t ledger_bytes = 1 << 20,
                                        const char* chat_template = kTurns) {
        ModelText text;
        text.tokenizer =
            std::make_unique<ToyTokenizer>(session_pieces(), std::vector<TokenId>{kStart, kEnd});
        text.chat_template =
            std::make_unique<ChatTemplate>(std::move(*ChatTemplate::compile(chat_template)));
        auto model = session_model(static_cast<uint32_t>(session_pieces().size()));
        EngineOptions options = options_of(model->spec().kv, 64, 16, 100);
        options.context = context;
        options.ledger_bytes = ledger_bytes;
        return std::move(*Engine::over(std::move(model), std::move(text), options));
    }
    // Single letters only: no control token, no pair.
    static GenerateRequest how(uint32_t n_new) {
        GenerateRequest request = request_for({}, n_new);
        for (TokenId id = 0; id < static_cast<TokenId>(session_pieces().size()); ++id) {
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

    Said said(Result<Stream> stream) {
        EXPECT_TRUE(stream.has_value()) << stream.error().message;
        return read(*stream);
    }
    std::vector<std::string> contents() {
        std::vector<std::string> all;
        for (const ChatMessage& message : session_.messages()) all.push_back(message.content);
        return all;
    }

    // From the end of an answer to the beginning of the next, the message being "again".
    std::vector<TokenId> seam_to_again() {
        return engine_->tokenizer()->encode("<|e|><|s|>user:again<|e|><|s|>assistant:",
                                            Specials::recognised);
    }

    std::unique_ptr<Engine> engine_;
    Session session_;
};

}  // namespace kvik
