// PieceTrie: all pieces that a text begins with.
//
// Shape   nodes in breadth-first order, so that a node's children lie side by side, by rising byte.
// Threads const from any thread.   Cost  nine bytes a node; a step looks through one node's bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/types.h"

namespace kvik {

class PieceTrie {
  public:
    struct Piece {
        std::string_view bytes;  // not empty, no two equal
        TokenId id = 0;
    };
    explicit PieceTrie(std::vector<Piece> pieces);

    // Calls visit(n_bytes, id) for each piece at the start of `text`, the shortest first.
    template <class Visit>
    void for_each_prefix(std::string_view text, const Visit& visit) const {
        uint32_t node = 0;
        for (size_t i = 0; i < text.size(); ++i) {
            const uint32_t first = first_[node];
            const uint32_t n = first_[node + 1] - first;
            if (n == 0) return;
            const void* found = std::memchr(&bytes_[first], static_cast<uint8_t>(text[i]), n);
            if (found == nullptr) return;
            node = static_cast<uint32_t>(static_cast<const char*>(found) - bytes_.data());
            if (ids_[node] >= 0) visit(i + 1, ids_[node]);
        }
    }

  private:
    std::vector<char> bytes_;      // [n_nodes] that lead to a node
    std::vector<TokenId> ids_;     // [n_nodes], -1: no piece ends there
    std::vector<uint32_t> first_;  // [n_nodes + 1] first child; the next node's is where they end
};

}  // namespace kvik
