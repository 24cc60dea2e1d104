#include "sched/sequence.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace kvik {

Sequence::Sequence(BlockTable table, std::vector<TokenId> prompt, uint32_t max_tokens)
    : tokens_(std::move(prompt)),
      n_prompt_(static_cast<uint32_t>(tokens_.size())),
      max_tokens_(max_tokens),
      table_(std::move(table)) {
    KVIK_CHECK(n_prompt_ > 0, "a sequence begins with a token");
    KVIK_CHECK(n_prompt_ <= max_tokens, "a sequence is never longer than its limit");
    tokens_.reserve(max_tokens);
}

void Sequence::push(TokenId token) {
    KVIK_CHECK(n_tokens() < max_tokens_, "a sequence is never longer than its limit");
    tokens_.push_back(token);
}

bool Sequence::reserve(uint32_t n) {
    KVIK_CHECK(n_computed() + n <= n_tokens(), "only known tokens are computed");
    return table_.reserve(n);
}

void Sequence::commit(uint32_t n) {
    KVIK_CHECK(n_computed() + n <= n_tokens(), "only known tokens are computed");
    table_.append(n);
}

void Sequence::truncate(uint32_t n_tokens) {
    KVIK_CHECK(n_tokens >= n_prompt_ && n_tokens <= tokens_.size(),
               "only picked tokens are forgotten");
    tokens_.resize(n_tokens);
    if (n_computed() > n_tokens) table_.truncate(n_tokens);
}

void Sequence::give_up() {
    table_.truncate(0);
}

Sequence Sequence::fork() const {
    Sequence copy(table_.fork(), {prompt().begin(), prompt().end()}, max_tokens_);
    copy.tokens_.insert(copy.tokens_.end(), tokens_.begin() + n_prompt_, tokens_.end());
    return copy;
}

SequenceView Sequence::view(WantLogits want_logits) const {
    return {.n_tokens = n_tokens(),
            .n_computed = n_computed(),
            .n_logical_blocks = table_.n_logical_blocks(),
            .n_shared_tails = table_.n_shared_tails(),
            .want_logits = want_logits};
}

void Sequence::check_invariants() const {
    KVIK_CHECK(n_prompt_ <= n_tokens() && n_tokens() <= max_tokens_,
               "a sequence has its prompt and never exceeds its limit");
    KVIK_CHECK(n_computed() <= n_tokens(), "only known tokens are computed");
    table_.check_invariants();
}

}  // namespace kvik
