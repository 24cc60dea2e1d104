// PieceTable: the bytes of every token in one string, and a hash index from bytes to ids.
//
// Owner     its bytes. Ids are 0, 1, 2, ... in the order of add().
// Threads   const from any thread.
// Cost      find: one hash and about one comparison. No heap string a token: a quarter of a million
//           of them would cost more than the rest of loading a tokenizer.
// Invariant only ids that were indexed are found; no two indexed ids have the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace kvik {

class PieceTable {
  public:
    void reserve(size_t n_tokens, size_t n_bytes);

    // Building: bytes are written at the end of the pool, then closed as the next token.
    std::string& pool() { return pool_; }
    std::string_view close_piece();  // the new token's bytes, valid until the pool grows
    // Makes `id` findable, or returns who has its bytes already. After the last close_piece().
    std::optional<TokenId> index(TokenId id);

    uint32_t n_tokens() const { return static_cast<uint32_t>(ends_.size()); }
    size_t longest() const { return longest_; }  // bytes of the longest indexed piece
    std::string_view piece(TokenId id) const {
        const size_t i = static_cast<size_t>(id);
        const uint32_t begin = i == 0 ? 0 : ends_[i - 1];
        return std::string_view(pool_).substr(begin, ends_[i] - begin);
    }
    std::optional<TokenId> find(std::string_view bytes) const;

  private:
    struct Slot {
        uint32_t hash = 0;
        TokenId id = kFree;
    };
    static constexpr TokenId kFree = -1;

    const Slot& slot_of(std::string_view bytes, uint32_t hash) const;

    std::string pool_;
    std::vector<uint32_t> ends_;
    std::vector<Slot> slots_ = std::vector<Slot>(2);  // a power of two, at most half full
    size_t longest_ = 0;
};

}  // namespace kvik
