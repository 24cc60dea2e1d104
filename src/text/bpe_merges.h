// MergeTable: a pair of tokens -> the rank of its merge and the token it becomes.
//
// Threads   const from any thread.   Cost  a find is one multiplication and about one cache line.
// Invariant the first rank of a pair stands.
// Errors    make: a line that is not "left right", or names what is not a token, by its index.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/tokenizer_merge.h"
#include "text/tokenizer_pieces.h"

namespace kvik {

// How the tokens of merges are spelled: in the byte alphabet, or with U+2581 for a space.
enum class Spelling : uint8_t { byte_alphabet, space_mark };

class MergeTable {
  public:
    // `merges` are in rank order and in the vocabulary's spelling; `pieces` hold bytes.
    static Result<MergeTable> make(const std::vector<std::string>& merges, const PieceTable& pieces,
                                   Spelling spelling);

    MergePair find(TokenId left, TokenId right) const noexcept {
        for (size_t i = place_of(key_of(left, right));; i = (i + 1) & (slots_.size() - 1)) {
            const Slot& slot = slots_[i];
            if (slot.key == key_of(left, right)) return slot.pair;
            if (slot.key == kFree) return {};
        }
    }

  private:
    static constexpr uint64_t kFree = UINT64_MAX;
    struct Slot {
        uint64_t key = kFree;
        MergePair pair;
    };

    explicit MergeTable(size_t n_merges);
    void insert(TokenId left, TokenId right, MergePair pair);

    static uint64_t key_of(TokenId left, TokenId right) noexcept {
        return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
    }
    size_t place_of(uint64_t key) const noexcept {
        return (key * 0x9E3779B97F4A7C15ull) >> shift_;  // the golden ratio: well spread high bits
    }

    std::vector<Slot> slots_;  // 2^(64 - shift_), at most half full
    int shift_ = 63;
};

}  // namespace kvik
