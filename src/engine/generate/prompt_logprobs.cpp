#include "engine/generate/prompt_logprobs.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "sched/sequence.h"

namespace kvik {

// The size of two map nodes with their keys and lists, without tokens and values.
static constexpr uint64_t kEntryBytes = 256;

static uint64_t entry_bytes(size_t n_tokens) {
    return kEntryBytes + n_tokens * (sizeof(TokenId) + sizeof(float));
}

std::span<const float> PromptLogprobs::find(const NamespaceKey& ns,
                                            std::span<const TokenId> tokens) const {
    const auto next = entries_.lower_bound({ns, {tokens.begin(), tokens.end()}});
    std::span<const float> best;
    const auto look_at = [&](Entries::const_iterator entry) {
        if (entry->first.ns != ns) return;
        const size_t n = common_prefix(entry->first.tokens, tokens);
        if (n > best.size()) best = std::span(entry->second.values).first(n);
    };
    if (next != entries_.end()) look_at(next);
    if (next != entries_.begin()) look_at(std::prev(next));
    return best;
}

void PromptLogprobs::put(const NamespaceKey& ns, std::span<const TokenId> tokens,
                         std::span<const float> values) {
    KVIK_CHECK(tokens.size() == values.size(), "every token of a prompt has a logprob");
    const uint64_t n_new = entry_bytes(tokens.size());
    if (tokens.empty() || n_new > budget_bytes_) return;
    Key key{ns, {tokens.begin(), tokens.end()}};
    const auto begins = [&](const Key& a, const Key& b) {
        return a.ns == b.ns && common_prefix(a.tokens, b.tokens) == a.tokens.size();
    };
    // An entry that is a prefix of the new one goes. If the new one is a prefix of an entry, that
    // entry is marked as used instead.
    auto next = entries_.lower_bound(key);
    if (next != entries_.begin() && begins(std::prev(next)->first, key)) erase(std::prev(next));
    next = entries_.lower_bound(key);
    if (next != entries_.end() && begins(key, next->first)) {
        by_put_.erase(next->second.last_put);
        next->second.last_put = ++tick_;
        by_put_.emplace(tick_, next);
        return;
    }
    while (n_bytes_ + n_new > budget_bytes_) erase(by_put_.begin()->second);
    const auto entry =
        entries_.emplace(std::move(key), Entry{{values.begin(), values.end()}, ++tick_}).first;
    by_put_.emplace(tick_, entry);
    n_bytes_ += n_new;
}

void PromptLogprobs::erase(Entries::iterator entry) {
    n_bytes_ -= entry_bytes(entry->first.tokens.size());
    by_put_.erase(entry->second.last_put);
    entries_.erase(entry);
}

}  // namespace kvik
