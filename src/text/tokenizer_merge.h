// Pair merging: while any two neighbours can merge, the best pair does, the leftmost of equals.
//
// Shape     symbols are a doubly linked list inside a vector; each remembers the rank of the pair
//           that it begins. A heap holds (rank, position); an entry whose rank is no longer its
//           symbol's is stale and skipped.
// Cost      O(n log n) for n symbols, whatever they are; no allocation once the scratch has grown.
// Invariant gives what repeated scans for the best pair would give.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/types.h"

namespace kvik {

inline constexpr uint32_t kNoSymbol = UINT32_MAX;
inline constexpr uint32_t kNoPair = UINT32_MAX;  // as a rank: these two do not merge
inline constexpr TokenId kNoToken = -1;

struct MergeSymbol {
    uint32_t begin = 0;  // bytes of the text
    uint32_t end = 0;
    TokenId id = kNoToken;
    uint32_t previous = kNoSymbol;
    uint32_t next = kNoSymbol;
    uint32_t rank = kNoPair;  // of the pair (this, next)
    TokenId merged = kNoToken;
};

struct MergePair {
    uint32_t rank = kNoPair;  // lower merges first
    TokenId merged = kNoToken;
};

struct MergeScratch {
    std::vector<MergeSymbol> symbols;
    std::vector<uint64_t> heap;  // rank << 32 | position, the smallest first

    // Appends a symbol to the right end of the list.
    void add(uint32_t begin, uint32_t end, TokenId id) {
        const uint32_t i = static_cast<uint32_t>(symbols.size());
        if (i > 0) symbols[i - 1].next = i;
        symbols.push_back({begin, end, id, i == 0 ? kNoSymbol : i - 1});
    }
};

// `pair_of(left, right)` gives the MergePair of two symbols. Afterwards the list from symbols[0]
// along `next` is what is left; the first symbol never moves.
template <class PairOf>
void merge_pairs(MergeScratch& scratch, const PairOf& pair_of) {
    std::vector<MergeSymbol>& symbols = scratch.symbols;
    std::vector<uint64_t>& heap = scratch.heap;
    heap.clear();
    const auto look_up = [&](uint32_t left) {
        MergeSymbol& symbol = symbols[left];
        const MergePair pair =
            symbol.next == kNoSymbol ? MergePair{} : pair_of(symbol, symbols[symbol.next]);
        symbol.rank = pair.rank;
        symbol.merged = pair.merged;
        if (pair.rank == kNoPair) return false;
        heap.push_back(uint64_t{pair.rank} << 32 | left);
        return true;
    };
    for (uint32_t i = 0; i < symbols.size(); ++i) look_up(i);
    std::make_heap(heap.begin(), heap.end(), std::greater<>());
    while (!heap.empty()) {
        std::pop_heap(heap.begin(), heap.end(), std::greater<>());
        const uint32_t rank = static_cast<uint32_t>(heap.back() >> 32);
        const uint32_t left = static_cast<uint32_t>(heap.back());
        heap.pop_back();
        MergeSymbol& symbol = symbols[left];
        if (symbol.rank != rank) continue;
        MergeSymbol& right = symbols[symbol.next];
        symbol.end = right.end;
        symbol.id = symbol.merged;
        symbol.next = right.next;
        right.rank = kNoPair;  // what waits for it in the heap is stale
        if (symbol.next != kNoSymbol) symbols[symbol.next].previous = left;
        if (look_up(left)) std::push_heap(heap.begin(), heap.end(), std::greater<>());
        if (symbol.previous != kNoSymbol && look_up(symbol.previous))
            std::push_heap(heap.begin(), heap.end(), std::greater<>());
    }
}

}  // namespace kvik
