// KvReport: where the KV of a prompt came from, token by token, and why what was computed had to be.
//
// Shape   segments in the order of the prompt; their lengths add up to it.
// Invariant it says what happened when the request was admitted; it decides nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace kvik {

enum class KvSource : uint8_t { ram, disk, computed };

enum class KvReason : uint8_t {
    hit,               // it was there
    first_difference,  // from here on the cache knows other tokens than these
    never_seen,        // nothing is known from here on
    evicted,           // it was there, and had to make room
    resume_point,      // K and V of layers with a window have gone: taken up at the nearest point
    last_token,        // only its logits were missing
    salt,              // it is there for requests without this one's salt
    cache_off,
};

std::string_view kv_source_name(KvSource source);
std::string_view kv_reason_name(KvReason reason);

struct KvSegment {
    uint32_t n_tokens = 0;
    KvSource source = KvSource::computed;
    KvReason reason = KvReason::never_seen;
    // first_difference: the tokens at its start, as the cache has them and as the prompt has them; a
    // few of each. The texts are empty without a tokenizer.
    std::vector<TokenId> old_ids = {}, new_ids = {};
    std::string old_text = {}, new_text = {};
    double evicted_ms_ago = 0;  // evicted

    bool operator==(const KvSegment&) const = default;
};

struct KvReport {
    std::vector<KvSegment> segments;
    double saved_ms =
        0;  // what computing the tokens that were found would have taken; 0: not known

    uint32_t n_tokens(KvSource source) const;
};

}  // namespace kvik
