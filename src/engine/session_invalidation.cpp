// Session: what becomes of the KV that it goes on without.
#include <algorithm>

#include "engine/chat_prompt.h"
#include "engine/ledger/ledger_point.h"
#include "kvik/kvik.h"

namespace kvik {

static uint32_t n_common_tokens(std::span<const TokenId> a, std::span<const TokenId> b) {
    const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return static_cast<uint32_t>(differ.first - a.begin());
}

// One prompt that begins as the last one did, however far, goes back or on. Another answer to it
// makes nothing of it wrong.
Result<void> Session::invalidate(std::span<const TokenId> next) {
    if (!held_) return {};
    const std::vector<TokenId> held = ids_of(*held_);
    const uint32_t n_common = n_common_tokens(held, next);
    if (n_common == held.size() || n_common == next.size()) return {};
    return give_up(held, n_common);
}

Result<void> Session::give_up(std::vector<TokenId> held, uint32_t n_common) {
    const bool is_full = options_.invalidation == Invalidation::full;
    const uint32_t from = is_full ? 0 : n_common;
    const size_t n_given_up = held.size() - from;
    if (options_.invalidation != Invalidation::partial) {
        KVIK_TRY_VOID(engine_->forget(std::move(held), from,
                                      is_full ? ForgetKind::now : ForgetKind::stale, salt_));
    }
    ++counts_.n_invalidations;
    counts_.n_invalidated_tokens += n_given_up;
    held_ = nullptr;
    return {};
}

// Of these ids, those that any conversation with this system message begins with; none, if the
// template has nothing to say without a message.
uint32_t Session::count_system_tokens(std::span<const TokenId> ids) {
    Timeline other;
    if (now_.has_system()) other.add(now_.messages.front(), nullptr);
    other.add({"user", ""}, nullptr);
    const Result<MarkedText> rendered = engine_->render(other.messages);
    return rendered ? n_common_tokens(ids, encode_prompt(*engine_->tokenizer(), *rendered)) : 0;
}

Result<void> Session::reset_topic() {
    collect_answer();
    if (held_) {
        std::vector<TokenId> held = ids_of(*held_);
        const uint32_t n_common = count_system_tokens(held);
        KVIK_TRY_VOID(give_up(std::move(held), n_common));
    }
    now_.cut(now_.has_system() ? 1 : 0);
    counts_.n_kept_tokens = 0;
    return {};
}

}  // namespace kvik
