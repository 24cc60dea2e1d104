#include "engine/ledger/marked_runs.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace kvik {

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

// A place in runs. What `left` shows is empty only at the end.
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

}  // namespace kvik
