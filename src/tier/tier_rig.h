// What the tests of the tier share: records whose bytes are a function of their tokens, so that a
// wrong one cannot pass for a right one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/philox.h"
#include "tier/disk_tier.h"

namespace kvik {

inline constexpr uint64_t kRigBlockBytes = 3000;  // no multiple of 64
inline constexpr uint32_t kRigGroups = 3;
inline constexpr uint32_t kRigBlockTokens = 16;

inline DiskTierOptions rig_options(const std::string& folder) {
    return {.folder = folder,
            .quota_bytes = uint64_t{64} << 20,
            .block_bytes = kRigBlockBytes,
            .n_groups = kRigGroups,
            .block_tokens = kRigBlockTokens,
            .identity = "rig"};
}

inline std::unique_ptr<DiskTier> open_rig(const DiskTierOptions& options) {
    auto tier = DiskTier::open(options);
    KVIK_CHECK(tier.has_value(), "the folder can be used");
    return std::move(*tier);
}

inline NamespaceKey rig_namespace(uint64_t number = 0) {
    return namespace_key({"rig", std::to_string(number)});
}

// A block of a made-up conversation: block `index` of sequence `sequence`.
struct RigBlock {
    NamespaceKey ns;
    BlockHash parent = {};
    BlockHash hash = {};
    std::vector<TokenId> tokens = {};
};

inline std::vector<RigBlock> rig_path(uint32_t sequence, uint32_t n_blocks,
                                      const NamespaceKey& ns = rig_namespace()) {
    std::vector<RigBlock> path;
    BlockHash parent = kRootHash;
    for (uint32_t index = 0; index < n_blocks; ++index) {
        RigBlock block{.ns = ns, .parent = parent};
        for (uint32_t i = 0; i < kRigBlockTokens; ++i)
            block.tokens.push_back(
                static_cast<TokenId>(philox4x32({i, index, sequence, 0}, {1, 2})[0] % 50000));
        block.hash = parent = block_hash(ns, block.parent, block.tokens);
        path.push_back(std::move(block));
    }
    return path;
}

// What that block's KV of a group is: [n_bytes], a function of all that KV depends on.
inline std::vector<std::byte> rig_kv(const BlockHash& hash, uint32_t group,
                                     uint64_t n_bytes = kRigBlockBytes) {
    std::vector<std::byte> bytes(n_bytes);
    for (uint64_t at = 0; at < n_bytes; at += 16) {
        const auto four =
            philox4x32({static_cast<uint32_t>(at), group, 7, 7},
                       {static_cast<uint32_t>(hash[0]), static_cast<uint32_t>(hash[1])});
        std::memcpy(bytes.data() + at, four.data(), std::min<uint64_t>(16, n_bytes - at));
    }
    return bytes;
}

// Saves go out with their bytes, which stay until the tier has gone through them.
class RigSaves {
  public:
    explicit RigSaves(DiskTier& tier, uint64_t block_bytes = kRigBlockBytes)
        : tier_(tier), block_bytes_(block_bytes) {}

    bool save(const RigBlock& block, const std::vector<uint32_t>& groups = {0, 1, 2}) {
        SaveRequest save{
            .ticket = ++n_tickets_, .ns = block.ns, .parent = block.parent, .tokens = block.tokens};
        for (const uint32_t group : groups) {
            bytes_.push_back(
                std::make_unique<std::vector<std::byte>>(rig_kv(block.hash, group, block_bytes_)));
            save.groups.emplace_back(group, *bytes_.back());
        }
        return tier_.save(std::move(save));
    }
    // The bytes of a block, made beforehand: a save of it then costs nothing but writing.
    void make(const RigBlock& block) {
        for (uint32_t group = 0; group < kRigGroups; ++group)
            bytes_.push_back(
                std::make_unique<std::vector<std::byte>>(rig_kv(block.hash, group, block_bytes_)));
    }
    bool save_made(const RigBlock& block, size_t index) {
        SaveRequest save{
            .ticket = ++n_tickets_, .ns = block.ns, .parent = block.parent, .tokens = block.tokens};
        for (uint32_t group = 0; group < kRigGroups; ++group)
            save.groups.emplace_back(group, *bytes_[index * kRigGroups + group]);
        return tier_.save(std::move(save)) && tier_.flush();
    }
    // All that was saved since, in order.
    std::vector<SaveResult> finish() {
        KVIK_CHECK(tier_.flush(), "the writer comes to an end");
        bytes_.clear();
        return tier_.take_saved();
    }

  private:
    DiskTier& tier_;
    uint64_t block_bytes_;
    std::vector<std::unique_ptr<std::vector<std::byte>>> bytes_;
    uint64_t n_tickets_ = 0;
};

inline std::vector<SaveResult> save_path(DiskTier& tier, std::span<const RigBlock> path,
                                         uint64_t block_bytes = kRigBlockBytes) {
    RigSaves saves(tier, block_bytes);
    for (const RigBlock& block : path) KVIK_CHECK(saves.save(block), "the queue has room");
    return saves.finish();
}

enum class Read : uint8_t { right, miss, wrong };

inline Read read_rig(DiskTier& tier, TierRef ref, const RigBlock& block, uint32_t group,
                     uint64_t block_bytes = kRigBlockBytes) {
    std::vector<std::byte> to(block_bytes);
    if (!tier.read(ref, group, block.tokens, to)) return Read::miss;
    return to == rig_kv(block.hash, group, block_bytes) ? Read::right : Read::wrong;
}

}  // namespace kvik
