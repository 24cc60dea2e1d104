#include "engine/ledger/token_ledger.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/digest.h"
#include "engine/session/chat_prompt.h"

namespace kvik {

// ---- what it remembers ----

static std::string digest_of(std::span<const TokenId> ids) {
    return xxh3_128_hex(std::as_bytes(ids));
}

// Bytes of the index per point: an entry, its digest twice, three nodes.
static constexpr uint64_t kIndexBytes = 400;

static uint64_t bytes_of(const LedgerPoint& point) {
    return sizeof(LedgerPoint) + kIndexBytes + point.text.text.capacity() +
           point.text.untrusted.capacity() * sizeof(ByteRange) +
           point.ids.capacity() * sizeof(TokenId);
}

bool TokenLedger::ByText::operator()(const LedgerPoint* a, const LedgerPoint* b) const {
    return compare(runs_of(*a), runs_of(*b)).order < 0;
}
bool TokenLedger::ByText::operator()(const LedgerPoint* a, const MarkedRuns& b) const {
    return compare(runs_of(*a), b).order < 0;
}
bool TokenLedger::ByText::operator()(const MarkedRuns& a, const LedgerPoint* b) const {
    return compare(a, runs_of(*b)).order < 0;
}

TokenLedger::TokenLedger(const Tokenizer& tokenizer, uint64_t max_bytes)
    : tokenizer_(tokenizer), max_bytes_(max_bytes) {}

void TokenLedger::make_end(Entry& entry) {
    entry.end = ends_.insert(entry.point.get());
    by_use_.emplace(entry.last_use, entry.point.get());
}

void TokenLedger::make_inner(Entry& entry) {
    if (!entry.end) return;
    ends_.erase(*std::exchange(entry.end, std::nullopt));
    by_use_.erase(entry.last_use);
}

// Marks the point and all before it as used, the start of the conversation last, so that the start
// is forgotten last.
void TokenLedger::use(const LedgerPoint* point) {
    for (; point; point = point->begin.point.get()) {
        const auto found = entries_.find(point);
        if (found == entries_.end()) return;
        Entry& entry = found->second;
        if (entry.end) by_use_.erase(entry.last_use);
        entry.last_use = ++clock_;
        if (entry.end) by_use_.emplace(entry.last_use, point);
    }
}

void TokenLedger::forget_oldest() {
    const LedgerPoint* point = by_use_.begin()->second;
    const auto found = entries_.find(point);
    make_inner(found->second);
    const LedgerPointRef held = std::move(found->second.point);
    const auto by_ids = by_ids_.find(found->second.ids_digest);
    if (by_ids != by_ids_.end() && by_ids->second == point) by_ids_.erase(by_ids);
    entries_.erase(found);
    n_bytes_ -= bytes_of(*point);
    ++n_forgotten_;
    const auto before = entries_.find(point->begin.point.get());
    if (before != entries_.end() && --before->second.n_after == 0) make_end(before->second);
}

const LedgerPoint* TokenLedger::find_same(const LedgerPoint& point,
                                          const std::string& digest) const {
    const auto found = by_ids_.find(digest);
    if (found == by_ids_.end()) return nullptr;
    const LedgerPoint& other = *found->second;
    const bool is_same =
        ids_of(other) == ids_of(point) && compare(runs_of(other), runs_of(point)).order == 0;
    return is_same ? &other : nullptr;
}

// Also adds the points before it that were forgotten while a conversation still held them.
LedgerPointRef TokenLedger::add(LedgerPointRef point) {
    std::string digest = digest_of(ids_of(*point));
    const std::lock_guard lock(mutex_);
    if (const LedgerPoint* same = find_same(*point, digest)) {
        use(same);
        return entries_.at(same).point;
    }
    LedgerPointRef added = point;
    const LedgerPoint* after = nullptr;
    while (added) {
        const auto [found, is_new] = entries_.try_emplace(added.get());
        Entry& entry = found->second;
        if (after) {
            make_inner(entry);
            ++entry.n_after;
        }
        if (!is_new) break;
        entry.point = added;
        entry.last_use = ++clock_;
        entry.ids_digest = after ? digest_of(ids_of(*added)) : digest;
        by_ids_[entry.ids_digest] = added.get();
        n_bytes_ += bytes_of(*added);
        if (!after) make_end(entry);
        after = added.get();
        added = added->begin.point;
    }
    use(point.get());
    while (n_bytes_ > max_bytes_) forget_oldest();
    return point;
}

LedgerStats TokenLedger::stats() const {
    const std::lock_guard lock(mutex_);
    return {n_bytes_, static_cast<uint32_t>(entries_.size()), n_forgotten_};
}

// ---- what comes back ----

// Texts are sorted, so the one with the longest common beginning is a neighbour of this text's
// place.
TokenLedger::Known TokenLedger::find(const MarkedText& text, const LedgerPointRef& known) {
    const MarkedRuns runs{run_of(text)};
    Known best;
    const auto offer = [&](const LedgerPointRef& point) {
        if (!point) return;
        const size_t n_common = compare(runs_of(*point), runs).n_common;
        if (n_common > best.n_common) best = {point, n_common};
    };
    offer(known);
    const std::lock_guard lock(mutex_);
    const auto next = ends_.lower_bound(runs);
    if (next != ends_.end()) offer(entries_.at(*next).point);
    if (next != ends_.begin()) offer(entries_.at(*std::prev(next)).point);
    use(best.point.get());
    return best;
}

// Returns the last place at which the kept ids may end. Both texts must split there: the one to
// encode, and the one that the prompt's ids were made of. If they are the same as far as the
// tokenizer looks, it is enough to ask for one of them.
LedgerPlace TokenLedger::last_seam(const Known& known, const MarkedText& text) const {
    const size_t reach = tokenizer_.split_reach();
    size_t limit = known.n_common;  // both have the same bytes so far, and the same ids
    for (LedgerPointRef point = known.point; point; point = point->begin.point) {
        const auto split_then = [&](size_t at) {
            if (point->kind == PointKind::answer || at == point->end_bytes()) return true;
            if (at + reach <= limit) return true;
            const size_t from = at > reach ? at - reach : 0;
            return tokenizer_.splits_at(part_of(runs_of(*point), from, at + reach), at - from);
        };
        const size_t begin = point->begin.n_bytes;
        if (begin < limit) {
            const std::vector<TokenEnd> ends = token_ends(*point, tokenizer_);
            for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
                const size_t at = begin + end->n_bytes;
                if (at > limit || at == begin) continue;
                if (tokenizer_.splits_at(text, at) && split_then(at))
                    return {point, at, point->begin.n_tokens + end->n_tokens};
            }
        }
        limit = std::min(limit, begin);
    }
    return {};
}

TokenLedger::Prompt TokenLedger::encode(const MarkedText& text, const LedgerPointRef& known) {
    LedgerPlace seam = last_seam(find(text, known), text);
    const uint32_t n_kept = seam.n_tokens;
    if (seam.point && seam.n_bytes == text.text.size() && n_kept == seam.point->end_tokens())
        return {std::move(seam.point), n_kept};
    const size_t at = seam.n_bytes;
    std::vector<TokenId> ids =
        seam.point ? tokenizer_.encode_from(text, at) : encode_prompt(tokenizer_, text);
    return {add(std::make_shared<LedgerPoint>(PointKind::prompt, std::move(seam),
                                              text_from(text, at), std::move(ids))),
            n_kept};
}

LedgerPointRef TokenLedger::find_prompt(std::span<const TokenId> ids) const {
    const std::string digest = digest_of(ids);
    const std::lock_guard lock(mutex_);
    const auto found = by_ids_.find(digest);
    if (found == by_ids_.end()) return nullptr;
    const std::vector<TokenId> known = ids_of(*found->second);
    if (!std::equal(known.begin(), known.end(), ids.begin(), ids.end())) return nullptr;
    return entries_.at(found->second).point;
}

LedgerPointRef TokenLedger::add_answer(const LedgerPointRef& prompt, std::span<const TokenId> ids,
                                       std::string_view text) {
    size_t n_bytes = 0, n_tokens = 0;
    for (; n_tokens < ids.size(); ++n_tokens) {
        const std::string_view piece = tokenizer_.piece(ids[n_tokens]);
        if (tokenizer_.is_control(ids[n_tokens]) || !text.substr(n_bytes).starts_with(piece)) break;
        n_bytes += piece.size();
    }
    if (n_tokens == 0) return prompt;
    MarkedText said{std::string(text.substr(0, n_bytes)), {{0, n_bytes}}};
    return add(std::make_shared<LedgerPoint>(
        PointKind::answer, end_of(prompt), std::move(said),
        std::vector<TokenId>(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(n_tokens))));
}

}  // namespace kvik
