#include "engine/ledger/ledger_point.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace kvik {

// ---- MarkedRuns ----

MarkedRun run_of(const MarkedText& text) {
    return {text.text, text.untrusted};
}

// ---- who wrote what ----

struct Trust {
    bool is_untrusted = false;
    size_t lasts = SIZE_MAX;  // bytes from there on, this one included
};

static Trust trust_at(std::span<const ByteRange> untrusted, size_t at) {
    const auto range =
        std::find_if(untrusted.begin(), untrusted.end(), [at](const ByteRange& candidate) {
            return candidate.end > at && candidate.begin < candidate.end;
        });
    if (range == untrusted.end()) return {};
    if (range->begin <= at) return {true, range->end - at};
    return {false, range->begin - at};
}

// ---- two texts side by side ----

// A cursor over runs; left() is empty only at the end.
struct Reader {
    const MarkedRuns& runs;
    size_t run = 0, at = 0;

    std::string_view left() {
        while (run < runs.size() && at == runs[run].bytes.size()) ++run, at = 0;
        return run < runs.size() ? runs[run].bytes.substr(at) : std::string_view();
    }
    Trust trust() const { return trust_at(runs[run].untrusted, at); }
};

static size_t n_same_bytes(std::string_view a, std::string_view b) {
    constexpr size_t kStride = 128;  // in leaps as long as nothing differs
    size_t at = 0;
    while (at + kStride <= a.size() && std::memcmp(&a[at], &b[at], kStride) == 0) at += kStride;
    while (at < a.size() && a[at] == b[at]) ++at;
    return at;
}

Comparison compare(const MarkedRuns& a, const MarkedRuns& b) {
    Reader one{a}, other{b};
    Comparison result;
    for (;;) {
        const std::string_view left = one.left(), right = other.left();
        if (left.empty() || right.empty()) {
            result.order = !left.empty() <=> !right.empty();
            return result;
        }
        const Trust by = one.trust(), by_other = other.trust();
        const size_t n_alike = by.is_untrusted == by_other.is_untrusted
                                   ? std::min({left.size(), right.size(), by.lasts, by_other.lasts})
                                   : 1;
        const size_t n_same = n_same_bytes(left.substr(0, n_alike), right.substr(0, n_alike));
        if (n_same < n_alike) {
            result.n_common += n_same;
            result.order =
                static_cast<uint8_t>(left[n_same]) <=> static_cast<uint8_t>(right[n_same]);
            return result;
        }
        if (by.is_untrusted != by_other.is_untrusted) {
            result.order = by.is_untrusted <=> by_other.is_untrusted;
            return result;
        }
        result.n_common += n_alike;
        one.at += n_alike;
        other.at += n_alike;
    }
}

MarkedText part_of(const MarkedRuns& runs, size_t begin, size_t end) {
    MarkedText part;
    size_t run_begin = 0;
    for (const MarkedRun& run : runs) {
        const size_t from = std::max(begin, run_begin),
                     to = std::min(end, run_begin + run.bytes.size());
        const size_t n_before = part.text.size();
        if (from < to) {
            part.text += run.bytes.substr(from - run_begin, to - from);
            for (const ByteRange& range : run.untrusted) {
                const size_t first = std::max(from, run_begin + range.begin);
                const size_t last = std::min(to, run_begin + range.end);
                if (first < last)
                    part.untrusted.push_back({n_before + first - from, n_before + last - from});
            }
        }
        run_begin += run.bytes.size();
    }
    return part;
}

// ---- LedgerPoint ----

// Destroys the points before it one by one, because recursion over a long conversation would
// overflow the stack.
LedgerPoint::~LedgerPoint() {
    LedgerPointRef next = std::move(begin.point);
    while (next && next.use_count() == 1) {
        // No other point or conversation shares it.
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

// Calls visit(point, n_bytes, n_tokens) for the part of each point that the text uses, last point
// first.
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

// A token that is not in the text (BOS, a space that the tokenizer adds before a word) takes no
// bytes of it. If more than that differs, only the end of the point is returned.
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
