// The two real models and prompts for them: one without windows, one with a window of 512 tokens in
// most layers.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kvik/kvik.h"

namespace kvik {

struct OverRealModels : ::testing::TestWithParam<const char*> {
    static std::string model_path() {
        return fmt::format("{}/.models/{}.gguf", KVIK_SOURCE_DIR, GetParam());
    }
    static std::unique_ptr<Engine> open_engine(EngineOptions options = {}) {
        options.model_path = model_path();
        auto engine = Engine::open(std::move(options));
        if (!engine) throw std::runtime_error(engine.error().message);
        return std::move(*engine);
    }
};

inline auto real_models() {
    return ::testing::Values("smollm2-135m-q4_1", "gemma3-270m-q4_k_m");
}
inline std::string short_name(const ::testing::TestParamInfo<const char*>& test) {
    return std::string(test.param).substr(0, 5);
}

// n ids of prose, from a different place for each `from`.
inline std::vector<TokenId> prose(const Engine& engine, size_t n, size_t from = 0) {
    std::ifstream file(KVIK_SOURCE_DIR "/tests/golden/smollm2/prose.txt");
    std::ostringstream text;
    text << file.rdbuf();
    const auto ids = engine.tokenizer()->encode(text.str(), Specials::as_text);
    std::vector<TokenId> out(n);
    for (size_t i = 0; i < n; ++i) out[i] = ids.at((from + i) % ids.size());
    return out;
}

inline GenerateRequest request(std::vector<TokenId> prompt, uint32_t n_new) {
    GenerateRequest out;
    out.prompt = std::move(prompt);
    out.max_new_tokens = n_new;
    out.end_tokens = EndTokens::ignore;
    out.want_logits_hash = true;
    out.sampling.seed = 7;
    return out;
}

struct Answer {
    std::vector<TokenId> ids;
    std::string text;
    Summary summary;
};

inline Answer collect(Result<Stream> stream) {
    if (!stream) throw std::runtime_error(stream.error().message);
    Answer out;
    for (;;) {
        auto event = stream->next();
        if (!event) throw std::runtime_error(event.error().message);
        if (!*event) break;
        out.ids.push_back((*event)->id);
        out.text += (*event)->text;
    }
    out.text += stream->tail();
    out.summary = stream->summary();
    return out;
}

inline Answer cold(Engine& engine, GenerateRequest wanted) {
    wanted.cache = CachePolicy::off;
    return collect(engine.submit(std::move(wanted)));
}

inline void expect_same(const Answer& got, const Answer& wanted) {
    EXPECT_EQ(got.ids, wanted.ids);
    EXPECT_EQ(got.summary.logits_sha256, wanted.summary.logits_sha256);
    EXPECT_EQ(got.summary.logits_sha256.size(), 64u);
}

}  // namespace kvik
