// What an engine gives a chat template, and what it says when one fails.
#include <gtest/gtest.h>

#include "kvik/kvik.h"
#include "support/requests.h"
#include "support/toy_tokenizer.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

std::unique_ptr<Engine> engine_with(const char* source, EngineOptions options = {}) {
    std::vector<std::string> pieces = {"<|s|>", "<|e|>"};
    for (char c = ' '; c <= '~'; ++c) pieces.emplace_back(1, c);
    const auto n_pieces = static_cast<uint32_t>(pieces.size());
    ModelText text;
    text.tokenizer = std::make_unique<ToyTokenizer>(pieces, std::vector<TokenId>{0, 1});
    text.chat_template = std::make_unique<ChatTemplate>(std::move(*ChatTemplate::compile(source)));
    auto model = std::make_unique<HashModel>(HashModelOptions{.vocab_size = n_pieces});
    EngineOptions small = options_of(model->spec().kv, 64, 16, 100);
    small.now = options.now;
    small.model_path = options.model_path;
    return std::move(*Engine::over(std::move(model), std::move(text), small));
}

TEST(EngineTemplate, sees_the_caller_s_clock) {
    EngineOptions options;
    options.now = std::chrono::local_days(std::chrono::year(2024) / 2 / 29) + std::chrono::hours(5);
    const auto engine = engine_with("{{ strftime_now('%Y-%m-%d') }}", options);
    const auto ids = engine->encode_chat({{"user", "a"}});
    ASSERT_TRUE(ids) << ids.error().message;
    EXPECT_EQ(engine->tokenizer()->decode(*ids), "2024-02-29");
}

TEST(EngineTemplate, that_fails_is_named_with_its_file_and_the_way_without_it) {
    EngineOptions options;
    options.model_path = "a-model.gguf";
    const auto engine = engine_with("{{ raise_exception('no such role') }}", options);
    const auto ids = engine->encode_chat({{"user", "a"}});
    ASSERT_FALSE(ids);
    EXPECT_EQ(ids.error().kind, ErrorKind::usage);
    EXPECT_TRUE(ids.error().message.starts_with("a-model.gguf: ")) << ids.error().message;
    EXPECT_NE(ids.error().message.find("no such role"), std::string::npos);
    EXPECT_NE(ids.error().message.find("--raw"), std::string::npos);
}

}  // namespace
}  // namespace kvik
