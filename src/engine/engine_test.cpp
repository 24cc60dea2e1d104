// The engine with its thread: many callers, one queue.
#include <gtest/gtest.h>

#include <filesystem>
#include <latch>
#include <thread>

#include "engine/engine_settings.h"
#include "support/requests.h"
#include "testing/hash_model.h"
#include "testing/scratch_folder.h"

namespace kvik {
namespace {

struct Opened {
    std::unique_ptr<Engine> engine;
    const HashModel* model;
};

Opened open_engine(uint32_t ubatch = 32, uint32_t n_blocks = 200) {
    auto model = std::make_unique<HashModel>();
    const HashModel* borrowed = model.get();
    const EngineOptions options = options_of(model->spec().kv, ubatch, 16, n_blocks);
    auto engine = Engine::over(std::move(model), options);
    EXPECT_TRUE(engine.has_value());
    return {std::move(*engine), borrowed};
}

std::vector<TokenId> read_all(Stream& stream) {
    std::vector<TokenId> ids;
    for (;;) {
        auto event = stream.next();
        EXPECT_TRUE(event.has_value());
        if (!event || !*event) return ids;
        ids.push_back((*event)->id);
    }
}

Expected expected(const HashModel& model, const GenerateRequest& request) {
    return oracle([&](std::span<const TokenId> t) { return model.cold_logits(t); }, request);
}

// Holds the engine thread inside a step until it is let go.
struct Brake {
    std::latch reached{1}, released{1};
    GenerateRequest request() {
        GenerateRequest request = request_for({1}, 1);
        request.on_prompt_logits = [this](uint32_t, std::span<const float>) {
            reached.count_down();
            released.wait();
        };
        return request;
    }
};

TEST(EngineProgress, of_a_prompt_grows_with_its_chunks) {
    const auto [engine, model] = open_engine(32);
    GenerateRequest request = request_for(std::vector<TokenId>(100, 7), 1);
    std::latch reached{1}, released{1};
    request.on_prompt_logits = [&](uint32_t position, std::span<const float>) {
        if (position != 40) return;
        reached.count_down();
        released.wait();
    };
    auto stream = engine->submit(std::move(request));
    ASSERT_TRUE(stream.has_value());
    reached.wait();
    EXPECT_EQ(stream->progress().n_tokens, 100u);
    EXPECT_GT(stream->progress().n_done, 40u);
    EXPECT_LT(stream->progress().n_done, 100u);
    released.count_down();
    read_all(*stream);
    EXPECT_EQ(stream->progress().n_done, 100u);
    EXPECT_EQ(stream->progress().n_cached, 0u);

    auto again = engine->submit(request_for(std::vector<TokenId>(100, 7), 1));
    ASSERT_TRUE(again.has_value());
    read_all(*again);
    EXPECT_GT(again->progress().n_cached, 0u);
    EXPECT_EQ(again->progress().n_done, 100u);
}

std::unique_ptr<Engine> calibrated(Calibrate how, const std::string& folder) {
    auto model = std::make_unique<HashModel>();
    EngineOptions options = options_of(model->spec().kv, 32, 16, 200);
    options.calibrate = how;
    options.costs_folder = folder;
    auto engine = Engine::over(std::move(model), options);
    EXPECT_TRUE(engine.has_value());
    return std::move(*engine);
}

TEST(EngineCosts, are_measured_while_it_opens_where_fresh_ones_are_asked_for) {
    const ScratchFolder home;
    const auto costs = calibrated(Calibrate::fresh, home.path("costs"))->step_costs();
    ASSERT_TRUE(costs.has_value());
    EXPECT_TRUE(costs->is_lawful());
    EXPECT_GT(costs->ms(1, 0), 0);
    // Kept for the next one, which has them at once.
    EXPECT_EQ(calibrated(Calibrate::on, home.path("costs"))->step_costs(), costs);
}

TEST(EngineCosts, are_neither_read_nor_measured_where_they_are_off) {
    const ScratchFolder home;
    calibrated(Calibrate::fresh, home.path("costs"));
    EXPECT_FALSE(calibrated(Calibrate::off, home.path("costs"))->step_costs());
    EXPECT_FALSE(calibrated(Calibrate::off, home.path("none"))->step_costs());
    EXPECT_FALSE(std::filesystem::exists(home.path("none")));
}

TEST(EngineCosts, are_measured_once_nobody_wants_anything) {
    const ScratchFolder home;
    const auto engine = calibrated(Calibrate::on, home.path("costs"));
    EXPECT_FALSE(engine->step_costs());  // nobody waits for them
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!engine->step_costs() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::yield();
    EXPECT_TRUE(engine->step_costs());
    EXPECT_EQ(calibrated(Calibrate::on, home.path("costs"))->step_costs(), engine->step_costs());
}

TEST(EngineCosts, give_the_same_answer_known_or_not) {
    const ScratchFolder home;
    const HashModel model;
    const GenerateRequest request = request_for({5, 6, 7}, 12);
    for (const Calibrate how : {Calibrate::off, Calibrate::on, Calibrate::fresh}) {
        const auto engine = calibrated(how, home.path("costs"));
        Stream stream = *engine->submit(request);
        EXPECT_EQ(read_all(stream), expected(model, request).ids);
        EXPECT_EQ(stream.summary().logits_sha256, expected(model, request).hash);
    }
}

TEST(Engine, answers_as_the_oracle_does) {
    Opened o = open_engine();
    const GenerateRequest request = request_for({5, 6, 7}, 12);
    Stream stream = *o.engine->submit(request);
    const Expected right = expected(*o.model, request);
    EXPECT_EQ(read_all(stream), right.ids);
    EXPECT_EQ(stream.summary().logits_sha256, right.hash);
    EXPECT_EQ(stream.summary().timings.n_generated_tokens, 12u);
}

TEST(Engine, answers_callers_on_many_threads_each_as_if_alone) {
    Opened o = open_engine(16, 24);
    std::vector<std::thread> callers;
    for (uint32_t caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&o, caller] {
            Random random(caller);
            for (uint32_t i = 0; i < 12; ++i) {
                const GenerateRequest request = request_for(
                    joined(std::vector<TokenId>(20, 3), random_tokens(random, random.below(30))),
                    random.below(30), caller);
                Stream stream = *o.engine->submit(request);
                if (random.below(4) == 0) continue;  // drops the stream
                EXPECT_EQ(read_all(stream), expected(*o.model, request).ids);
                EXPECT_LE(o.engine->cache_stats().n_free_blocks, o.engine->cache_stats().n_blocks);
            }
        });
    }
    for (std::thread& caller : callers) caller.join();
}

TEST(Engine, refuses_at_once_when_the_inbox_is_full) {
    Opened o = open_engine();
    Brake brake;
    std::vector<Stream> streams;
    streams.push_back(*o.engine->submit(brake.request()));
    brake.reached.wait();
    for (uint32_t i = 0; i < kQueueCapacity; ++i) {
        auto stream = o.engine->submit(request_for({2, 3}, 1));
        ASSERT_TRUE(stream.has_value());
        streams.push_back(std::move(*stream));
    }
    const auto refused = o.engine->submit(request_for({2, 3}, 1));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().kind, ErrorKind::failed);
    EXPECT_NE(refused.error().message.find("256"), std::string::npos);
    brake.released.count_down();
    for (Stream& stream : streams) EXPECT_EQ(read_all(stream).size(), 1u);
}

TEST(Engine, gives_back_all_blocks_of_a_dropped_stream) {
    Opened o = open_engine();
    GenerateRequest long_one = request_for({1, 2, 3}, 1000);
    long_one.cache = CachePolicy::off;
    { const Stream dropped = *o.engine->submit(long_one); }
    Stream stream = *o.engine->submit(request_for({4}, 0));  // ends in the step after at the latest
    read_all(stream);
    Stream last = *o.engine->submit(request_for({4}, 0));
    read_all(last);
    const CacheStats stats = o.engine->cache_stats();
    EXPECT_EQ(stats.n_blocks - stats.n_free_blocks, 1u);  // the prompt of one token, in the tree
}

TEST(Engine, ends_streams_as_cancelled_when_it_goes) {
    Opened o = open_engine();
    Stream running = *o.engine->submit(request_for({1, 2}, 3000));
    ASSERT_TRUE(running.next().has_value());
    o.engine.reset();
    read_all(running);
    EXPECT_EQ(running.summary().reason, FinishReason::cancelled);
}

TEST(Engine, tells_what_it_runs_with) {
    Opened o = open_engine(48);
    EXPECT_EQ(o.engine->used().ubatch, 48u);
    EXPECT_EQ(o.engine->used().kv, "f16");
    EXPECT_EQ(o.engine->used().act, "int8");
    EXPECT_EQ(o.engine->model().architecture, "hash");
    EXPECT_EQ(o.engine->tokenizer(), nullptr);
}

TEST(Engine, says_which_words_a_chat_lacks) {
    Opened o = open_engine();
    const auto ids = o.engine->encode_chat({{"user", "hello"}});
    ASSERT_FALSE(ids.has_value());
    EXPECT_EQ(ids.error().kind, ErrorKind::unsupported);
}

TEST(Engine, names_each_reason_to_finish) {
    EXPECT_EQ(finish_reason_name(FinishReason::stop), "stop");
    EXPECT_EQ(finish_reason_name(FinishReason::length), "length");
    EXPECT_EQ(finish_reason_name(FinishReason::cancelled), "cancelled");
}

}  // namespace
}  // namespace kvik
