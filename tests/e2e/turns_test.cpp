// Conversations with the real model over the public face: turns, batches and a tight cache give the
// bits of a cold run. Wall time is printed, and bound only where it would show a miss.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "real_models.h"

namespace kvik {
namespace {

struct Turns : OverRealModels {};
INSTANTIATE_TEST_SUITE_P(Models, Turns, real_models(), short_name);

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
    EXPECT_EQ(warm.summary.timings.n_cached_tokens, 1000 + 24 - 1);
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
        EXPECT_GE(turn.summary.timings.n_cached_tokens, kDepth - 1);
        turn_ms = std::min(turn_ms, turn.summary.timings.prompt_ms);
    }
    fmt::print(
        "second turn of {} tokens {:.0f} ms; as many at that depth {:.0f} ms; all {:.0f} ms\n",
        kNew, turn_ms, whole_ms - depth_ms, whole_ms);
    EXPECT_LT(turn_ms, 0.6 * whole_ms);
}

// Milliseconds in which this binary's bench computes n tokens at a depth.
double bench_ms(const std::string& model, uint32_t n, uint32_t depth) {
    const char* binary = std::getenv("KVIK_BINARY");
    if (!binary) throw std::runtime_error("KVIK_BINARY names no program");
    const std::string command =
        fmt::format("{} bench {} -p {} -d {} -r 3 --json --no-config", binary, model, n, depth);
    FILE* pipe = popen(command.c_str(), "r");
    if (!pipe) throw std::runtime_error(command);
    std::string said;
    for (int c; (c = std::fgetc(pipe)) != EOF;) said.push_back(static_cast<char>(c));
    const size_t at = said.find("\"ms\":");
    if (pclose(pipe) != 0 || at == std::string::npos) throw std::runtime_error(command);
    return std::strtod(said.c_str() + at + 5, nullptr);
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
        EXPECT_EQ(last.summary.timings.n_cached_tokens, turn == 0 ? 0 : known - 1);
        if (turn + 1 < kTurns)
            conversation.insert(conversation.end(), last.ids.begin(), last.ids.end());
    }
    EXPECT_EQ(conversation.size(), kTurns * (kSaid + kAnswer) - kAnswer);
    const Answer whole = cold(*engine, request(conversation, kAnswer));
    expect_same(last, whole);

    // The tenth turn again, each time with other words.
    const auto depth = static_cast<uint32_t>(conversation.size()) - kSaid;
    std::vector<double> turn_ms;
    for (size_t round = 1; round <= 5; ++round) {
        const auto said = prose(*engine, kSaid, 1000 + 31 * round);
        std::copy(said.begin(), said.end(), conversation.begin() + depth);
        const auto turn = collect(engine->submit(request(conversation, 1)));
        EXPECT_EQ(turn.summary.timings.n_cached_tokens, depth);
        turn_ms.push_back(turn.summary.timings.prompt_ms);
    }
    engine.reset();
    std::nth_element(turn_ms.begin(), turn_ms.begin() + 2, turn_ms.end());
    const double limit_ms = bench_ms(model_path(), kSaid, depth);
    fmt::print(
        "tenth turn, {} tokens after {}: {:.0f} ms to its first token, {:.2f} times what as many "
        "cost at that depth ({:.0f} ms); {:.0f} ms without reuse\n",
        kSaid, depth, turn_ms[2], turn_ms[2] / limit_ms, limit_ms, whole.summary.timings.prompt_ms);
    // The figure wanted is 1.15 on a quiet machine; this one may be loaded.
    EXPECT_LT(turn_ms[2], 2 * limit_ms);
    EXPECT_LT(turn_ms[2], 0.5 * whole.summary.timings.prompt_ms);
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
    auto engine = open_engine();
    const auto alone = collect(engine->submit(request(prose(*engine, 200), 12)));
    // Room for two or three of the sequences below.
    tight.cache_bytes = engine->cache_stats().block_bytes * alone.summary.n_kv_blocks * 20 / 7;
    engine = open_engine(tight);
    std::vector<Result<Stream>> streams;
    for (uint32_t i = 0; i < 6; ++i) {
        streams.push_back(engine->submit(request(prose(*engine, 200, 40 * i), 12)));
    }
    for (uint32_t i = 0; i < 6; ++i) {
        SCOPED_TRACE(fmt::format("sequence {}", i));
        const auto got = collect(std::move(streams[i]));
        expect_same(got, cold(*engine, request(prose(*engine, 200, 40 * i), 12)));
    }
    EXPECT_GT(engine->cache_stats().n_evicted_blocks, 0u);
}

}  // namespace
}  // namespace kvik
