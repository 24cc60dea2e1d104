// MarkedRuns: a marked text in several stretches, read as one.
//
// Owner     borrows all of it.
// Cost      comparing is linear in what two of them have in common.
// Invariant texts are ordered by their bytes, and where these are the same by who wrote them: a
//           byte from outside is never equal to the template's own.
#pragma once

#include <compare>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace kvik {

struct MarkedRun {
    std::string_view bytes;
    std::span<const ByteRange> untrusted;  // of the bytes; may reach beyond them
};
using MarkedRuns = std::vector<MarkedRun>;

MarkedRun run_of(const MarkedText& text);

struct Comparison {
    size_t n_common = 0;  // bytes until one ends or they differ
    std::strong_ordering order = std::strong_ordering::equal;
};
Comparison compare(const MarkedRuns& a, const MarkedRuns& b);

// The bytes [begin, end) as a text of their own.
MarkedText part_of(const MarkedRuns& runs, size_t begin, size_t end);

}  // namespace kvik
