// Beam search and samples with the real model over the public face: what blocks share changes no bit.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "kvik/kvik.h"
#include "real_models.h"
#include "support/naive_beams.h"

namespace kvik {
namespace {

std::unique_ptr<Engine> open_engine(EngineOptions options = {}) {
    options.model_path = fmt::format("{}/.models/smollm2-135m-q4_1.gguf", KVIK_SOURCE_DIR);
    options.calibrate = Calibrate::off;
    auto engine = Engine::open(std::move(options));
    if (!engine) throw std::runtime_error(engine.error().message);
    return std::move(*engine);
}

Answer ask(Engine& engine, GenerateRequest request) {
    return collect(engine.submit(std::move(request)));
}

// Each hypothesis computed from its first token, with nothing cached.
ColdLogits cold_logits(Engine& engine) {
    return [&engine](std::span<const TokenId> tokens) {
        std::vector<float> last;
        GenerateRequest request;
        request.prompt.assign(tokens.begin(), tokens.end());
        request.max_new_tokens = 0;
        request.cache = CachePolicy::off;
        request.on_prompt_logits = [&](uint32_t position, std::span<const float> row) {
            if (position + 1 == tokens.size()) last.assign(row.begin(), row.end());
        };
        ask(engine, std::move(request));
        return last;
    };
}

std::vector<TokenId> prompt_of(const Engine& engine) {
    return engine.tokenizer()->encode("Once upon a time there was a small house at the end of",
                                      Specials::as_text);
}

TEST(RealBeams, are_those_of_a_search_that_shares_nothing) {
    const auto engine = open_engine();
    for (const BeamParams params : {BeamParams{3, 1.0}, BeamParams{4, 0.6}}) {
        GenerateRequest request;
        request.prompt = prompt_of(*engine);
        request.beams = params;
        request.max_new_tokens = 10;
        request.end_tokens = EndTokens::ignore;
        request.want_logits_hash = true;
        NaiveBeams naive(cold_logits(*engine), params, {{}, 10});
        const std::vector<Beam> right = naive.search(request.prompt);
        const Answer reply = ask(*engine, request);
        ASSERT_EQ(reply.summary.beams.size(), right.size());
        for (size_t i = 0; i < right.size(); ++i) {
            EXPECT_EQ(reply.summary.beams[i].ids, right[i].ids) << i;
            EXPECT_EQ(reply.summary.beams[i].score, right[i].score) << i;
            EXPECT_EQ(reply.summary.beams[i].logits_sha256, right[i].logits_sha256) << i;
        }
        EXPECT_EQ(reply.ids, right[0].ids);
        EXPECT_EQ(reply.text, reply.summary.beams[0].text);
        // The prompt fills no block: beside a tail of each beam there is its own.
        EXPECT_EQ(reply.summary.n_kv_blocks_shared, params.n_beams + 1);
    }
}

TEST(RealSamples, are_the_answers_of_their_seeds_each_alone) {
    GenerateRequest request;
    request.max_new_tokens = 24;
    request.sampling.seed = 5;
    request.want_logits_hash = true;
    const auto engine = open_engine();
    request.prompt = prompt_of(*engine);  // long enough that it pays to wait for each other
    const std::vector<TokenId> again = request.prompt;
    request.prompt.insert(request.prompt.end(), again.begin(), again.end());
    auto streams = engine->submit_samples(request, 4);
    ASSERT_TRUE(streams.has_value());
    std::vector<Answer> samples;
    for (Stream& stream : *streams) samples.push_back(collect(std::move(stream)));
    const uint64_t n_rows = engine->cache_stats().n_computed_tokens;
    EXPECT_LE(n_rows, request.prompt.size() + 4 * 23) << "the prompt is computed once";
    request.cache = CachePolicy::off;
    for (const Answer& sample : samples) {
        const Answer alone = ask(*engine, request);
        EXPECT_EQ(sample.ids, alone.ids);
        EXPECT_EQ(sample.text, alone.text);
        EXPECT_EQ(sample.summary.logits_sha256, alone.summary.logits_sha256);
        ++*request.sampling.seed;
    }
}

}  // namespace
}  // namespace kvik
