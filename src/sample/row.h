// TiledRow: a row of logits seen through the maxima of its tiles, perhaps with some tiles patched:
// its maximum, and the tokens above a limit, without looking at every logit.
//
// Shape   logits : [vocab_size] f32, -inf allowed; maxima : [n_logit_tiles(vocab_size)]
// Owner   borrows everything.
// Cost    about 0.2 ns a tile, and what it takes to look into the tiles that have something.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/logit_tiles.h"
#include "base/types.h"
#include "sample/lanes.h"

namespace kvik {

struct TiledRow {
    std::span<const float> logits;
    std::span<const float> maxima;
    const float* patches = nullptr;       // [vocab_size], read in the tiles that are marked
    const uint8_t* is_patched = nullptr;  // [n_tiles], null: none

    size_t size() const { return logits.size(); }
    bool has_patch(size_t tile) const { return is_patched && is_patched[tile]; }
    std::span<const float> tile(size_t t) const {
        const size_t first = t * kLogitTile;
        const float* from = has_patch(t) ? patches : logits.data();
        return {from + first, std::min(kLogitTile, logits.size() - first)};
    }
};

// The largest logit: +inf also where one is NaN, -inf if there is none above it.
float largest(const TiledRow& row) noexcept;

// Lowest id whose logit is `value`; the row's size when there is none. `value` >= all logits.
TokenId first_equal(const TiledRow& row, float value) noexcept;

// A row that can be sampled from has one that is neither infinite nor NaN.
inline bool is_sampleable(float largest) {
    return largest > -std::numeric_limits<float>::infinity() &&
           largest < std::numeric_limits<float>::infinity();
}

// Calls take(t) for each tile whose maximum is at least `limit`, ascending; `take` returns the
// limit to go on with, which must not fall.
template <class Take>
void for_each_tile_from(std::span<const float> maxima, float limit, Take&& take) {
    const size_t n = maxima.size();
    size_t t = 0;
    for (; t + 16 <= n; t += 16) {
        const float* at = maxima.data() + t;
        const I32x4 any = (load4(at) >= limit) | (load4(at + 4) >= limit) |
                          (load4(at + 8) >= limit) | (load4(at + 12) >= limit);
        if (!any4(any)) continue;
        for (size_t k = t; k < t + 16; ++k)
            if (maxima[k] >= limit) limit = take(k);
    }
    for (; t < n; ++t)
        if (maxima[t] >= limit) limit = take(t);
}

// Calls take(id, logit) for each logit >= limit, ids ascending; `take` returns the limit to go on
// with, which must not fall.
template <class Take>
void for_each_from(const TiledRow& row, float limit, Take&& take) {
    for_each_tile_from(row.maxima, limit, [&](size_t t) {
        const std::span<const float> tile = row.tile(t);
        for (size_t k = 0; k < tile.size(); ++k)
            if (tile[k] >= limit) limit = take(static_cast<TokenId>(t * kLogitTile + k), tile[k]);
        return limit;
    });
}

// ----
// RowPatch: a row of logits with some of them changed, without a copy of the row: only the tiles
// that hold a changed one are copied.
//
// Use     begin(row, maxima), at(id) = ... as often as wanted, row(), end().
// Owner   its memory, 4.3 bytes a token of the vocabulary; borrows the row from begin to end.
// Cost    begin copies the maxima, a sixteenth of the row; at copies a tile the first time.
// Invariant between end and begin no tile is marked.

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
