// One budget counts everything: a process that is offered twenty times what fits grows by no more.
// It is a program of its own, because the peak that the kernel keeps is that of a whole process.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/requests.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

uint64_t status_bytes(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1)) * 1024;
    }
    return 0;
}

// Conversations that share an opening and go on for a few turns, of a model of realistic size:
// 22.5 KiB of KV a token, and rows of logits of 192 KiB.
TEST(Budget, holds_all_that_is_kept_of_twenty_times_more_than_fits) {
    constexpr uint64_t kMiB = 1 << 20, kBudget = 64 * kMiB, kSlack = 64 * kMiB;
    auto model = std::make_unique<HashModel>(
        HashModelOptions{.vocab_size = 49152, .n_layers = 30, .n_kv_heads = 3, .head_dim = 64});
    const uint64_t token_bytes = model->spec().kv.bytes_per_token();
    EngineOptions options;
    options.cache_bytes = kBudget;
    options.max_sequences = 4;
    options.calibrate = Calibrate::off;
    auto engine = *Engine::over(std::move(model), options);
    Random random(1);
    const std::vector<TokenId> opening = random_tokens(random, 60, 49152);
    uint64_t n_offered = 0;
    while (n_offered * token_bytes < 20 * kBudget) {
        std::vector<Stream> streams;
        for (int i = 0; i < 4; ++i) {
            const uint32_t n = 200 + random.below(300);
            GenerateRequest request =
                request_for(joined(opening, random_tokens(random, n, 49152)), 2);
            request.want_logits_hash = false;
            streams.push_back(*engine->submit(std::move(request)));
            n_offered += n;
        }
        for (Stream& stream : streams) {
            for (;;) {
                const auto event = stream.next();
                ASSERT_TRUE(event.has_value());
                if (!*event) break;
            }
        }
    }
    const CacheStats stats = engine->cache_stats();
    EXPECT_GT(stats.n_evicted_blocks * 32, 15 * uint64_t{stats.n_blocks} * 32);
    const uint64_t peak = status_bytes("VmHWM");
    fmt::print("budget {} MiB, {} MiB of KV offered: peak {} MiB\n", kBudget / kMiB,
               n_offered * token_bytes / kMiB, peak / kMiB);
    ASSERT_GT(peak, kBudget / 2) << "the kernel tells it";
    EXPECT_LE(peak, kBudget + kSlack);
}

}  // namespace
}  // namespace kvik
