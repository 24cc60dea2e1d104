// What outlives a process: KV on disk is found again, proved, and never believed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/cold_logits.h"
#include "testing/hash_model.h"
#include "testing/scratch_folder.h"

namespace kvik {
namespace {

class OnDisk : public ::testing::Test {
  protected:
    EngineOptions options(uint32_t n_blocks = 2000) const {
        EngineOptions o = options_of(model_.spec().kv, 64, 16, n_blocks);
        o.cache_folder = home_.path("kv");
        return o;
    }
    std::vector<TokenId> tokens(uint32_t n) { return random_tokens(random_, n); }
    // By an engine that opens the folder for this request and closes it.
    StreamResult ask(const GenerateRequest& request) { return ask(model_, request); }
    StreamResult ask(const HashModel& model, const GenerateRequest& request) {
        StepRig rig(model, options());
        StreamResult result = rig.ask(request);
        expect_cold(model, result, request);
        return result;
    }
    std::vector<std::filesystem::path> segments() const {
        std::vector<std::filesystem::path> all;
        for (const auto& entry : std::filesystem::directory_iterator(home_.path("kv")))
            if (entry.path().extension() == ".seg") all.push_back(entry.path());
        return all;
    }
    void flip(const std::filesystem::path& file, uint64_t at) const {
        std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
        stream.seekg(static_cast<std::streamoff>(at));
        const auto byte = static_cast<char>(stream.get() ^ 0x40);
        stream.seekp(static_cast<std::streamoff>(at));
        stream.put(byte);
    }

    ScratchFolder home_;
    HashModel model_;
    Random random_{1};
};

TEST_F(OnDisk, a_prompt_hits_after_a_restart_as_before) {
    const GenerateRequest request = request_for(tokens(150), 3);
    EXPECT_EQ(ask(request).summary.timings.n_cached_tokens, 0u);
    const uint64_t n_rows = model_.n_rows_computed();
    for (int restart = 0; restart < 3; ++restart) {
        const Timings timings = ask(request).summary.timings;
        EXPECT_GE(timings.n_cached_tokens, 149u);
        EXPECT_EQ(timings.n_disk_tokens, timings.n_cached_tokens);
    }
    // At most the last token, whose logits may not be there.
    EXPECT_LE(model_.n_rows_computed() - n_rows, 3 * (1u + 2));
}

// What a restore claims is what was not computed: never more than was proved.
TEST_F(OnDisk, what_is_reported_as_read_is_what_was_not_computed) {
    const std::vector<TokenId> known = tokens(150);
    ask(request_for(known, 1));
    for (const uint32_t n : {1u, 16u, 17u, 80u, 149u}) {
        SCOPED_TRACE(n);
        std::vector<TokenId> prompt(known.begin(), known.begin() + n);
        prompt = joined(prompt, {static_cast<TokenId>((known[n] + 1) % 101), 5, 6});
        const uint64_t n_rows = model_.n_rows_computed();
        const Timings timings = ask(request_for(prompt, 1)).summary.timings;
        EXPECT_EQ(model_.n_rows_computed() - n_rows, prompt.size() - timings.n_cached_tokens);
        EXPECT_LE(timings.n_cached_tokens, n);
        EXPECT_LE(timings.n_disk_tokens, timings.n_cached_tokens);
        EXPECT_GE(timings.n_cached_tokens, n - n % 16) << "whole blocks at least";
    }
}

TEST_F(OnDisk, three_flipped_bytes_anywhere_are_a_miss_and_leave_nothing_bad_behind) {
    const GenerateRequest request = request_for(tokens(150), 5);
    ask(request);
    ASSERT_FALSE(segments().empty());
    for (uint32_t round = 0; round < 40; ++round) {
        SCOPED_TRACE(::testing::Message() << "round " << round);
        for (const auto& segment : segments()) {
            const auto size = static_cast<uint32_t>(std::filesystem::file_size(segment));
            for (int i = 0; i < 3; ++i) flip(segment, random_.below(size));
        }
        StepRig rig(model_, options());
        for (int again = 0; again < 2; ++again) {  // what was rejected is not there the second time
            const StreamResult result = rig.ask(request);
            expect_cold(model_, result, request);
        }
    }
}

TEST_F(OnDisk, kv_of_other_weights_or_another_tenant_is_not_found) {
    GenerateRequest request = request_for(tokens(150), 3);
    ask(request);
    const HashModel other({.seed = 2});
    EXPECT_EQ(ask(other, request).summary.timings.n_cached_tokens, 0u);
    request.cache_salt = "a";
    EXPECT_EQ(ask(request).summary.timings.n_cached_tokens, 0u);
    EXPECT_GE(ask(request).summary.timings.n_cached_tokens, 149u);
}

TEST_F(OnDisk, a_folder_that_vanishes_costs_misses_only) {
    const GenerateRequest request = request_for(tokens(150), 3);
    StepRig rig(model_, options(12));  // room for this prompt and little else
    expect_cold(model_, rig.ask(request), request);
    std::filesystem::remove_all(home_.path("kv"));
    for (uint32_t i = 0; i < 10; ++i) {
        const GenerateRequest next = i % 2 ? request : request_for(tokens(150), 3, i);
        expect_cold(model_, rig.ask(next), next);
    }
}

TEST_F(OnDisk, what_was_evicted_from_memory_is_read_back) {
    // The index of what sleeps is a share of the budget: larger blocks leave room for more.
    const HashModel model({.n_layers = 8, .head_dim = 128});
    EngineOptions o = options_of(model.spec().kv, 64, 16, 60);
    o.cache_folder = home_.path("kv");
    o.evict = EvictionPolicy::lru;
    StepRig rig(model, o);
    const GenerateRequest request = request_for(tokens(150), 3);
    rig.ask(request);
    for (uint32_t i = 0; i < 7; ++i) rig.ask(request_for(tokens(150), 3, i));
    const StreamResult result = rig.ask(request);
    expect_cold(model, result, request);
    EXPECT_GE(result.summary.timings.n_disk_tokens, 100u);
    EXPECT_GT(rig.step_loop().cache_stats().n_evicted_blocks, 20u);
}

}  // namespace
}  // namespace kvik
