#include "text/tokenizer_pieces.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace kvik {

void PieceTable::reserve(size_t n_tokens, size_t n_bytes) {
    pool_.reserve(n_bytes);
    ends_.reserve(n_tokens);
    slots_.resize(std::bit_ceil(2 * n_tokens + 2));
}

std::string_view PieceTable::close_piece() {
    const size_t begin = ends_.empty() ? 0 : ends_.back();
    ends_.push_back(static_cast<uint32_t>(pool_.size()));
    return std::string_view(pool_).substr(begin);
}

const PieceTable::Slot& PieceTable::slot_of(std::string_view bytes, uint32_t hash) const {
    const size_t mask = slots_.size() - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        const Slot& slot = slots_[i];
        if (slot.id == kFree || (slot.hash == hash && piece(slot.id) == bytes)) return slot;
    }
}

static uint32_t hash_of(std::string_view bytes) {
    return static_cast<uint32_t>(XXH3_64bits(bytes.data(), bytes.size()));
}

std::optional<TokenId> PieceTable::index(TokenId id) {
    KVIK_CHECK(2 * ends_.size() <= slots_.size(), "a piece table is reserved for all its tokens");
    const std::string_view bytes = piece(id);
    const uint32_t hash = hash_of(bytes);
    const Slot& slot = slot_of(bytes, hash);
    if (slot.id != kFree) return slot.id;
    slots_[static_cast<size_t>(&slot - slots_.data())] = {hash, id};
    longest_ = std::max(longest_, bytes.size());
    return std::nullopt;
}

std::optional<TokenId> PieceTable::find(std::string_view bytes) const {
    if (bytes.size() > longest_) return std::nullopt;
    const Slot& slot = slot_of(bytes, hash_of(bytes));
    if (slot.id == kFree) return std::nullopt;
    return slot.id;
}

}  // namespace kvik
