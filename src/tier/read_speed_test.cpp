// What 3000 tokens' KV of a small model cost to read back: bytes by law, time as a figure.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <iostream>

#include "testing/scratch_folder.h"
#include "tier/disk_tier.h"
#include "tier/tier_rig.h"

namespace kvik {
namespace {

using Clock = std::chrono::steady_clock;

double gb_per_s(uint64_t n_bytes, Clock::time_point since) {
    return static_cast<double>(n_bytes) / 1e9 /
           std::chrono::duration<double>(Clock::now() - since).count();
}

TEST(read_speed, a_prompt_of_3000_tokens_is_read_once_and_whole) {
    constexpr uint64_t kBlockBytes = 32 * 22.5 * 1024;
    constexpr uint64_t kBlocks = 94;
    const ScratchFolder folder;
    DiskTierOptions options = rig_options(folder.path());
    options.quota_bytes = uint64_t{1} << 30;
    options.block_bytes = kBlockBytes;
    options.n_groups = 1;
    const auto tier = open_rig(options);
    const auto path = rig_path(1, kBlocks);
    std::vector<std::byte> kv = rig_kv(path[0].hash, 0, kBlocks * kBlockBytes);
    const auto block_of = [](std::vector<std::byte>& bytes, uint64_t i) {
        return std::span(bytes).subspan(i * kBlockBytes, kBlockBytes);
    };
    auto since = Clock::now();
    for (uint64_t i = 0; i < kBlocks; ++i)
        ASSERT_TRUE(tier->save({.ticket = i,
                                .ns = path[i].ns,
                                .parent = path[i].parent,
                                .tokens = path[i].tokens,
                                .groups = {{0, block_of(kv, i)}}}));
    ASSERT_TRUE(tier->flush());
    const double written = gb_per_s(kv.size(), since);
    const auto saved = tier->take_saved();
    std::vector<std::byte> to(kv.size());
    std::memcpy(to.data(), kv.data(), kv.size());  // its pages are there
    since = Clock::now();
    for (uint64_t i = 0; i < kBlocks; ++i)
        ASSERT_TRUE(tier->read(saved[i].ref, 0, path[i].tokens, block_of(to, i)));
    const double read = gb_per_s(kv.size(), since);
    EXPECT_EQ(to, kv);
    EXPECT_EQ(tier->stats().bytes_read, kv.size());
    since = Clock::now();
    std::memcpy(to.data(), kv.data(), kv.size());
    std::cout << "GB/s: written " << written << ", read " << read << ", memory copied "
              << gb_per_s(kv.size(), since) << "\n";
}

}  // namespace
}  // namespace kvik
