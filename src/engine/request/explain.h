// explain: from what the cache found and knows of a prompt to the KvReport of its request.
//
// Owner   nothing.
// Threads any; stateless.
// Cost    O(segments), a handful, and the text of a few tokens where prompt and cache differ.
// Errors  none.
// Invariant the lengths of the segments add up to the prompt.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cache/prefix/prefix_cache.h"
#include "kvik/kvik.h"
#include "text/tokenizer.h"

namespace kvik {

// Consecutive tokens of the prompt whose KV came from one place.
struct FoundRun {
    uint32_t n_tokens = 0;
    KvSource source = KvSource::ram;
};

struct PromptFacts {
    std::span<const TokenId> prompt;
    std::vector<FoundRun> found;  // from the start of the prompt on
    PathReport path;              // what the cache knew before the look-up
    CachePolicy cache = CachePolicy::reuse;
    bool lacks_logits = false;    // the whole prompt was found, but not the logits after it
    uint32_t n_without_salt = 0;  // tokens known to requests without a salt
    double saved_ms = 0, now_ms = 0;
};

KvReport explain(const PromptFacts& facts, const Tokenizer* tokenizer);

}  // namespace kvik
