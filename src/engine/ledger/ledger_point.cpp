#include "engine/ledger/ledger_point.h"

#include <algorithm>

namespace kvik {

// One by one: a long conversation's points are not torn down by recursion.
LedgerPoint::~LedgerPoint() {
    LedgerPointRef next = std::move(begin.point);
    while (next && next.use_count() == 1) {
        // Nobody else has it any more.
        LedgerPointRef after = std::move(const_cast<LedgerPoint&>(*next).begin.point);
        next = std::move(after);
    }
}

LedgerPlace end_of(LedgerPointRef point) {
    if (!point) return {};
    if (point->ids.empty() && point->text.text.empty()) return point->begin;
    const size_t n_bytes = point->end_bytes();
    const uint32_t n_tokens = point->end_tokens();
    return {std::move(point), n_bytes, n_tokens};
}

// Calls visit(point, n_bytes, n_tokens) for the used part of each, from the last to the first.
template <class Visit>
static void walk_back(const LedgerPoint& last, const Visit& visit) {
    size_t n_bytes = last.text.text.size(), n_tokens = last.ids.size();
    for (const LedgerPoint* point = &last; point;) {
        visit(*point, n_bytes, n_tokens);
        const LedgerPlace& place = point->begin;
        point = place.point.get();
        if (!point) break;
        n_bytes = place.n_bytes - point->begin.n_bytes;
        n_tokens = place.n_tokens - point->begin.n_tokens;
    }
}

MarkedRuns runs_of(const LedgerPoint& point) {
    MarkedRuns runs;
    walk_back(point, [&](const LedgerPoint& part, size_t n_bytes, size_t) {
        runs.push_back({std::string_view(part.text.text).substr(0, n_bytes), part.text.untrusted});
    });
    std::reverse(runs.begin(), runs.end());
    return runs;
}

std::vector<TokenId> ids_of(const LedgerPoint& point) {
    std::vector<TokenId> ids(point.end_tokens());
    walk_back(point, [&](const LedgerPoint& part, size_t, size_t n_tokens) {
        std::copy_n(part.ids.begin(), n_tokens,
                    ids.begin() + static_cast<ptrdiff_t>(part.begin.n_tokens));
    });
    return ids;
}

// A token that the text does not have (BOS, a space that was put before a word) takes none of it;
// ids of which more than that is not in the text have no ends of their own.
std::vector<TokenEnd> token_ends(const LedgerPoint& point, const Tokenizer& tokenizer) {
    std::vector<TokenEnd> ends;
    const std::string_view text = point.text.text;
    size_t at = 0;
    for (uint32_t i = 0; i < point.ids.size(); ++i) {
        std::string_view piece = tokenizer.piece(point.ids[i]);
        const std::string_view left = text.substr(at);
        if (!left.starts_with(piece)) {
            if (piece.starts_with(' ')) {
                piece.remove_prefix(1);
            } else if (at == 0 && tokenizer.is_control(point.ids[i])) {
                piece = {};
            }
            if (!left.starts_with(piece)) break;
        }
        at += piece.size();
        if (piece.empty() && !ends.empty()) continue;  // the first of two that end there
        ends.push_back({at, i + 1});
    }
    const auto n_tokens = static_cast<uint32_t>(point.ids.size());
    if (!ends.empty() && ends.back().n_bytes == text.size()) ends.pop_back();
    ends.push_back({text.size(), n_tokens});
    return ends;
}

}  // namespace kvik
