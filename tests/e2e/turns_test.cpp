// Conversations with the real model over the public face: turns, batches and a tight cache give the
// bits of a cold run. Wall time is printed, and bound only where it would show a miss.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "kvik/kvik.h"

namespace kvik {
namespace {

// One model without windows, one with a window of 512 tokens in most layers.
struct Turns : ::testing::TestWithParam<const char*> {
    static std::unique_ptr<Engine> open_engine(EngineOptions options = {}) {
        options.model_path = fmt::format("{}/.models/{}.gguf", KVIK_SOURCE_DIR, GetParam());
        auto engine = Engine::open(std::move(options));
        if (!engine) throw std::runtime_error(engine.error().message);
        return std::move(*engine);
    }
};
INSTANTIATE_TEST_SUITE_P(Models, Turns,
                         ::testing::Values("smollm2-135m-q4_1", "gemma3-270m-q4_k_m"),
                         [](const auto& test) { return std::string(test.param).substr(0, 5); });

// n ids of prose, from a different place for each `from`.
std::vector<TokenId> prose(const Engine& engine, size_t n, size_t from = 0) {
    std::ifstream file(KVIK_SOURCE_DIR "/tests/golden/smollm2/prose.txt");
    std::ostringstream text;
    text << file.rdbuf();
    const auto ids = engine.tokenizer()->encode(text.str(), Specials::as_text);
    std::vector<TokenId> out(n);
    for (size_t i = 0; i < n; ++i) out[i] = ids.at((from + i) % ids.size());
    return out;
}

GenerateRequest request(std::vector<TokenId> prompt, uint32_t n_new) {
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
    Summary summary;
};

Answer collect(Result<Stream> stream) {
    if (!stream) throw std::runtime_error(stream.error().message);
    Answer out;
    for (;;) {
        auto event = stream->next();
        if (!event) throw std::runtime_error(event.error().message);
        if (!*event) break;
        out.ids.push_back((*event)->id);
    }
    out.summary = stream->summary();
    return out;
}

Answer cold(Engine& engine, GenerateRequest wanted) {
    wanted.cache = CachePolicy::off;
    return collect(engine.submit(std::move(wanted)));
}

void expect_same(const Answer& got, const Answer& wanted) {
    EXPECT_EQ(got.ids, wanted.ids);
    EXPECT_EQ(got.summary.logits_sha256, wanted.summary.logits_sha256);
    EXPECT_EQ(got.summary.logits_sha256.size(), 64u);
}

TEST_P(Turns, a_second_turn_gives_the_bits_of_a_cold_run_of_the_whole_conversation) {
    auto engine = open_engine();
    const auto first = collect(engine->submit(request(prose(*engine, 1000), 24)));
    auto conversation = prose(*engine, 1000);
    conversation.insert(conversation.end(), first.ids.begin(), first.ids.end());
    const auto said = prose(*engine, 30, 77);
    conversation.insert(conversation.end(), said.begin(), said.end());

    const auto warm = collect(engine->submit(request(conversation, 24)));
    expect_same(warm, cold(*engine, request(conversation, 24)));
    // All but the answer's last token, which was picked and never computed.
    EXPECT_EQ(warm.summary.timings.cached_n, 1000 + 24 - 1);
}

TEST_P(Turns, a_second_turn_costs_its_own_tokens_only) {
    constexpr uint32_t kDepth = 1000, kNew = 256;
    auto engine = open_engine();
    double whole_ms = 1e30, depth_ms = 1e30, turn_ms = 1e30;
    collect(engine->submit(request(prose(*engine, kDepth), 1)));
    for (size_t round = 0; round < 3; ++round) {
        auto longer = prose(*engine, kDepth);
        // Another first token each round, so that no round finds what the one before computed.
        const auto said = prose(*engine, kNew, 100 + round * 31);
        longer.insert(longer.end(), said.begin(), said.end());
        const auto cold_ms = [&](std::vector<TokenId> ids) {
            return cold(*engine, request(std::move(ids), 1)).summary.timings.prompt_ms;
        };
        depth_ms = std::min(depth_ms, cold_ms(prose(*engine, kDepth)));
        whole_ms = std::min(whole_ms, cold_ms(longer));
        const auto turn = collect(engine->submit(request(longer, 1)));
        EXPECT_GE(turn.summary.timings.cached_n, kDepth - 1);
        turn_ms = std::min(turn_ms, turn.summary.timings.prompt_ms);
    }
    fmt::print(
        "second turn of {} tokens {:.0f} ms; as many at that depth {:.0f} ms; all {:.0f} ms\n",
        kNew, turn_ms, whole_ms - depth_ms, whole_ms);
    EXPECT_LT(turn_ms, 0.6 * whole_ms);
}

TEST_P(Turns, ten_of_them_compute_each_token_once) {
    constexpr uint32_t kTurns = 10, kSaid = 280, kAnswer = 20;
    auto engine = open_engine();
    std::vector<TokenId> conversation;
    Answer last;
    for (uint32_t turn = 0; turn < kTurns; ++turn) {
        const auto known = static_cast<uint32_t>(conversation.size());
        const auto said = prose(*engine, kSaid, 53 * turn);
        conversation.insert(conversation.end(), said.begin(), said.end());
        last = collect(engine->submit(request(conversation, kAnswer)));
        SCOPED_TRACE(fmt::format("turn {} after {} tokens", turn, known));
        // The answer's last token was picked and never computed.
        EXPECT_EQ(last.summary.timings.cached_n, turn == 0 ? 0 : known - 1);
        if (turn + 1 < kTurns)
            conversation.insert(conversation.end(), last.ids.begin(), last.ids.end());
    }
    EXPECT_EQ(conversation.size(), kTurns * (kSaid + kAnswer) - kAnswer);
    expect_same(last, cold(*engine, request(conversation, kAnswer)));
}

TEST_P(Turns, the_same_prompt_again_computes_one_token_at_most) {
    auto engine = open_engine();
    const auto once = collect(engine->submit(request(prose(*engine, 200), 8)));
    const auto again = collect(engine->submit(request(prose(*engine, 200), 8)));
    expect_same(again, once);
    EXPECT_GE(again.summary.timings.cached_n, 199u);
}

TEST_P(Turns, each_of_eight_mixed_sequences_gives_the_bits_of_its_run_alone) {
    auto engine = open_engine();
    std::vector<GenerateRequest> wanted;
    for (uint32_t i = 0; i < 8; ++i) {
        wanted.push_back(request(prose(*engine, 5 + 37 * i, 11 * i), 6 + 3 * (i % 4)));
        wanted.back().sampling.seed = i;
        wanted.back().sampling.temperature = i % 2 == 0 ? 0.0f : 0.8f;
        wanted.back().cache = CachePolicy::off;
    }
    std::vector<Result<Stream>> streams;
    for (const auto& one : wanted) streams.push_back(engine->submit(one));
    std::vector<Answer> together;
    for (auto& stream : streams) together.push_back(collect(std::move(stream)));
    for (size_t i = 0; i < wanted.size(); ++i) {
        SCOPED_TRACE(fmt::format("sequence {}", i));
        expect_same(together[i], cold(*engine, wanted[i]));
    }
}

TEST_P(Turns, a_cache_too_small_for_all_of_them_changes_no_bit) {
    EngineOptions tight;
    tight.context = 512;
    tight.max_sequences = 4;
    // Room for two or three of the sequences below.
    tight.cache_bytes = open_engine()->cache_stats().block_bytes * 20;
    auto engine = open_engine(tight);
    std::vector<Result<Stream>> streams;
    for (uint32_t i = 0; i < 6; ++i) {
        streams.push_back(engine->submit(request(prose(*engine, 200, 40 * i), 12)));
    }
    for (uint32_t i = 0; i < 6; ++i) {
        SCOPED_TRACE(fmt::format("sequence {}", i));
        const auto got = collect(std::move(streams[i]));
        expect_same(got, cold(*engine, request(prose(*engine, 200, 40 * i), 12)));
    }
    EXPECT_GT(engine->cache_stats().evicted_blocks, 0u);
}

}  // namespace
}  // namespace kvik
