// RowPatch: a row of logits with some of them changed, without a copy of the row: only the tiles
// that hold a changed one are copied.
//
// Use     begin(row, maxima), at(id) = ... as often as wanted, row(), end().
// Owner   its memory, 4.3 bytes a token of the vocabulary; borrows the row from begin to end.
// Cost    begin copies the maxima, a sixteenth of the row; at copies a tile the first time.
// Invariant between end and begin no tile is marked.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "sample/row.h"

namespace kvik {

class RowPatch {
  public:
    explicit RowPatch(uint32_t vocab_size);

    void begin(std::span<const float> row, std::span<const float> maxima);
    float& at(TokenId id);
    TiledRow row();  // with the maxima of the tiles as they are now
    void end();

  private:
    std::span<const float> row_;
    std::vector<float> logits_;  // [vocab_size]
    std::vector<float> maxima_;
    std::vector<uint8_t> is_patched_;
    std::vector<uint32_t> patched_;  // the tiles that are marked
};

}  // namespace kvik
