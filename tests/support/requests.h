// Random, request_for, oracle and options_of: requests for tests, and the answers that they must
// get. The oracle asks for the logits of all tokens so far, computed from the tokens alone; it
// knows no cache, batch, chunk or step.
#pragma once

#include <functional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "cache/prefix/prefix_cache.h"
#include "kvik/kvik.h"
#include "sample/sampler.h"

namespace kvik {

struct Random {
    explicit Random(uint32_t seed) : generator(seed) {}
    uint32_t below(uint32_t n) { return static_cast<uint32_t>(generator()) % n; }
    std::mt19937 generator;
};

inline std::vector<TokenId> random_tokens(Random& random, uint32_t n, uint32_t vocab_size = 101) {
    std::vector<TokenId> tokens(n);
    for (TokenId& token : tokens) token = static_cast<TokenId>(random.below(vocab_size));
    return tokens;
}

inline std::vector<TokenId> joined(std::vector<TokenId> a, const std::vector<TokenId>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

inline GenerateRequest request_for(std::vector<TokenId> prompt, uint32_t n_new, uint64_t seed = 7) {
    GenerateRequest request;
    request.prompt = std::move(prompt);
    request.max_new_tokens = n_new;
    request.sampling.temperature = 0.8f;
    request.sampling.min_p = 0;
    request.sampling.seed = seed;
    request.want_logits_hash = true;
    return request;
}

struct Expected {
    std::vector<TokenId> ids;
    std::string hash;
};

using ColdLogits = std::function<std::vector<float>(std::span<const TokenId>)>;

inline Expected oracle(const ColdLogits& cold_logits, const GenerateRequest& request) {
    Expected expected;
    Sha256 hash;
    std::vector<TokenId> tokens = request.prompt;
    for (uint32_t i = 0; i < request.max_new_tokens; ++i) {
        const std::vector<float> row = cold_logits(tokens);
        SampleScratch scratch(static_cast<uint32_t>(row.size()));
        const auto position = static_cast<uint32_t>(tokens.size());
        const TokenId id = *sample(request.sampling, {row, tokens, position}, scratch);
        hash.update(std::as_bytes(std::span(row)));
        tokens.push_back(id);
        expected.ids.push_back(id);
    }
    expected.hash = hash.hex();
    return expected;
}

// A budget of about n blocks, at least so many.
inline EngineOptions options_of(KvSpec spec, uint32_t ubatch, uint32_t block_tokens,
                                uint32_t n_blocks) {
    EngineOptions options;
    options.ubatch = ubatch;
    options.block_tokens = spec.block_tokens = block_tokens;
    for (uint64_t bytes = 4096;; bytes += 1024) {
        const auto budget = plan_cache(spec, bytes);
        if (!budget || budget->n_blocks < n_blocks) continue;
        options.cache_bytes = bytes;
        return options;
    }
}

}  // namespace kvik
