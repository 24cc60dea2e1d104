// EngineSettings: what an engine runs with, once its options have met the model and the budget.
//
// Use     resolve_settings() once, when an engine opens; check_options() alone before a model is
//         loaded.
// Owner   a plain value.
// Threads any.
// Cost    resolve_settings: a few thousand operations; capacity(): a binary search over the budget.
// Errors  an option out of its range: usage, naming flag, value and range. A budget that cannot
//         hold kLeastTokens of one sequence: memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cache/kv_keys.h"
#include "cache/kv_spec.h"
#include "cache/prefix/prefix_cache.h"
#include "kvik/kvik.h"
#include "model/model.h"

namespace kvik {

inline constexpr uint32_t kDefaultContext = 8192;
inline constexpr uint32_t kLeastTokens = 64;
inline constexpr uint32_t kMostSequences = 256;
inline constexpr uint32_t kMostThreads = 1024;
inline constexpr uint32_t kMostRows = 8192;  // tokens of a step
inline constexpr uint32_t kQueueCapacity = 256;
inline constexpr std::string_view kDefaultAct = "int8";

struct EngineSettings {
    KvSpec kv;  // the model's, with type and block size
    CacheBudget budget;
    uint64_t cache_bytes = 0;
    uint64_t prompt_logprobs_bytes = 0;  // of the budget for logits
    uint32_t context = 0;
    uint32_t most_context = 0;   // what --ctx may ask for within the budget
    uint32_t model_context = 0;  // what --ctx may ask for with any budget
    uint32_t ubatch = 0;
    uint32_t max_sequences = 0;
    uint32_t n_logits_rows = 0;  // most in one step
    CachePolicy cache = CachePolicy::reuse;
    EvictionPolicy evict = EvictionPolicy::cost;
    NamespaceKey ns;
    std::string identity;      // what ns is the digest of
    std::string cache_folder;  // empty: no disk tier
    uint64_t disk_bytes = 0;

    // Returns the length of the longest sequence whose KV fits the whole budget, computed
    // kLeastTokens per step.
    uint64_t capacity() const;
    ScratchLimits scratch_limits() const;
};

Result<void> check_options(const EngineOptions& options);  // checks what needs no model
Result<EngineSettings> resolve_settings(const EngineOptions& options, const ModelSpec& model);

std::string_view kv_type_name(KvType type);

}  // namespace kvik
