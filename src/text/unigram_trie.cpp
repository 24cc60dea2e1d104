#include "text/unigram_trie.h"

#include <algorithm>

namespace kvik {

PieceTrie::PieceTrie(std::vector<Piece> pieces) {
    std::sort(pieces.begin(), pieces.end(),
              [](const Piece& a, const Piece& b) { return a.bytes < b.bytes; });
    // A node's pieces are a range of the sorted ones, all with the node's bytes at their start.
    struct Range {
        size_t begin = 0;
        size_t end = 0;
        size_t n_bytes = 0;
    };
    std::vector<Range> nodes{{0, pieces.size(), 0}};
    bytes_.push_back(0);
    for (size_t node = 0; node < nodes.size(); ++node) {
        Range range = nodes[node];
        TokenId id = -1;
        if (range.begin < range.end && pieces[range.begin].bytes.size() == range.n_bytes &&
            range.n_bytes > 0)
            id = pieces[range.begin++].id;
        ids_.push_back(id);
        first_.push_back(static_cast<uint32_t>(nodes.size()));
        while (range.begin < range.end) {
            const char byte = pieces[range.begin].bytes[range.n_bytes];
            size_t end = range.begin;
            while (end < range.end && pieces[end].bytes[range.n_bytes] == byte) ++end;
            nodes.push_back({range.begin, end, range.n_bytes + 1});
            bytes_.push_back(byte);
            range.begin = end;
        }
    }
    first_.push_back(static_cast<uint32_t>(nodes.size()));
}

}  // namespace kvik
