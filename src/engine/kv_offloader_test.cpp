// A restart: what one engine published, another finds in the folder that it left.
#include "engine/kv_offloader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/requests.h"
#include "support/step_rig.h"
#include "testing/hash_model.h"
#include "testing/scratch_folder.h"

namespace kvik {
namespace {

class KvOffloaderTest : public ::testing::Test {
  protected:
    EngineOptions options(uint32_t n_blocks = 200) {
        EngineOptions options = options_of(model_.spec().kv, 64, 16, n_blocks);
        options.cache_folder = folder_.path();
        return options;
    }
    std::vector<TokenId> tokens(uint32_t n) { return random_tokens(random_, n); }
    void expect_right(const GenerateRequest& request, const StreamResult& result) {
        const Expected right =
            oracle([&](std::span<const TokenId> t) { return model_.cold_logits(t); }, request);
        EXPECT_EQ(result.ids, right.ids);
        EXPECT_EQ(result.summary.logits_sha256, right.hash);
    }

    ScratchFolder folder_;
    HashModel model_{{.head_dim = 512}};  // blocks large enough that an index is small beside them
    Random random_{1};
};

TEST_F(KvOffloaderTest, computes_after_a_restart_only_what_is_new) {
    GenerateRequest request = request_for(tokens(150), 20);
    StreamResult first;
    {
        StepRig rig(model_, options());
        first = rig.ask(request);
    }
    request.prompt = joined(joined(request.prompt, first.ids), tokens(9));
    const uint64_t n_before = model_.n_rows_computed();
    StepRig rig(model_, options());
    request.max_new_tokens = 1;
    const StreamResult result = rig.ask(request);
    expect_right(request, result);
    EXPECT_EQ(result.summary.timings.n_cached_tokens, 150u + 19);
    EXPECT_EQ(result.summary.timings.n_disk_tokens, 150u + 19);
    EXPECT_EQ(model_.n_rows_computed() - n_before, 10u);
}

TEST_F(KvOffloaderTest, runs_no_step_for_the_same_prompt_after_a_restart) {
    const GenerateRequest request = request_for(tokens(77), 1);
    StepRig(model_, options()).ask(request);
    const uint64_t n_before = model_.n_rows_computed();
    StepRig rig(model_, options());
    expect_right(request, rig.ask(request));
    EXPECT_EQ(model_.n_rows_computed(), n_before);
}

TEST_F(KvOffloaderTest, brings_back_what_was_evicted) {
    StepRig rig(model_, options(14));
    const GenerateRequest request = request_for(tokens(150), 5);
    rig.ask(request);
    for (int i = 0; i < 2; ++i) rig.ask(request_for(tokens(150), 5));
    const uint64_t n_before = model_.n_rows_computed();
    const StreamResult result = rig.ask(request);
    expect_right(request, result);
    EXPECT_GE(result.summary.timings.n_cached_tokens, 149u);
    EXPECT_GT(result.summary.timings.n_disk_tokens, 0u);
    EXPECT_LE(model_.n_rows_computed() - n_before, 5u);
}

TEST_F(KvOffloaderTest, reads_only_what_it_uses) {
    const GenerateRequest long_one = request_for(tokens(320), 1);
    StepRig(model_, options()).ask(long_one);
    GenerateRequest request =
        request_for({long_one.prompt.begin(), long_one.prompt.begin() + 70}, 1);
    request.prompt.back() ^= 1;  // 69 tokens are the same: 5 logical blocks of 16
    StepRig rig(model_, options());
    const StreamResult result = rig.ask(request);
    expect_right(request, result);
    EXPECT_EQ(result.summary.timings.n_disk_tokens, 69u);
    EXPECT_EQ(rig.step_loop().cache().disk_stats().bytes_read,
              5 * rig.step_loop().cache().block_bytes());
}

TEST_F(KvOffloaderTest, computes_what_the_disk_has_lost) {
    const GenerateRequest request = request_for(tokens(150), 5);
    StepRig(model_, options()).ask(request);
    StepRig rig(model_, options());  // it knows of the records; then they are damaged
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
        if (entry.path().extension() == ".seg") std::filesystem::resize_file(entry.path(), 4096);
    }
    expect_right(request, rig.ask(request));
}

TEST_F(KvOffloaderTest, is_warm_again_after_a_damaged_block_was_computed_anew) {
    const GenerateRequest request = request_for(tokens(150), 1);
    StepRig(model_, options()).ask(request);
    const auto file = std::filesystem::directory_iterator(folder_.path())->path();
    {
        std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekp(300'000);  // within the KV of the second or third block
        bytes.put('x');
        bytes.put('y');
    }
    const StreamResult damaged = StepRig(model_, options()).ask(request);
    expect_right(request, damaged);
    EXPECT_LT(damaged.summary.timings.n_disk_tokens, 150u);
    const StreamResult healed = StepRig(model_, options()).ask(request);
    expect_right(request, healed);
    EXPECT_EQ(healed.summary.timings.n_disk_tokens, 150u);
}

TEST_F(KvOffloaderTest, keeps_the_beginning_of_a_prompt_that_the_quota_cannot_hold) {
    EngineOptions small = options();
    const KvSpec kv = [&] {
        KvSpec spec = model_.spec().kv;
        spec.block_tokens = 16;
        return spec;
    }();
    small.disk_bytes = 32 * kv.block_bytes();
    const GenerateRequest request = request_for(tokens(640), 1);  // 40 blocks
    for (int run = 0; run < 4; ++run) {
        StepRig rig(model_, small);
        const StreamResult result = rig.ask(request);
        expect_right(request, result);
        EXPECT_GE(result.summary.timings.n_disk_tokens, run > 0 ? 16u * 16 : 0u);
    }
}

TEST_F(KvOffloaderTest, says_in_the_report_what_was_read) {
    GenerateRequest request = request_for(tokens(100), 1);
    StepRig(model_, options()).ask(request);
    StepRig rig(model_, options());
    request.want_kv_report = true;
    request.prompt = joined(request.prompt, tokens(5));
    const StreamResult result = rig.ask(request);
    ASSERT_TRUE(result.summary.kv_report.has_value());
    EXPECT_EQ(result.summary.kv_report->n_tokens(KvSource::disk), 100u);
    EXPECT_EQ(result.summary.kv_report->n_tokens(KvSource::computed), 5u);
    EXPECT_EQ(result.summary.kv_report->segments.back().reason, KvReason::never_seen);
}

TEST_F(KvOffloaderTest, keeps_another_salt_apart_on_disk_too) {
    GenerateRequest request = request_for(tokens(100), 1);
    request.cache_salt = "a";
    StepRig(model_, options()).ask(request);
    StepRig rig(model_, options());
    request.cache_salt = "b";
    EXPECT_EQ(rig.ask(request).summary.timings.n_cached_tokens, 0u);
    request.cache_salt = "a";
    EXPECT_EQ(rig.ask(request).summary.timings.n_cached_tokens, 100u);
}

}  // namespace
}  // namespace kvik
