#include "sample/row_patch.h"

#include <algorithm>

#include "base/check.h"
#include "sample/tiles.h"

namespace kvik {

RowPatch::RowPatch(uint32_t vocab_size)
    : logits_(vocab_size),
      maxima_(n_logit_tiles(vocab_size)),
      is_patched_(n_logit_tiles(vocab_size)) {
    patched_.reserve(n_logit_tiles(vocab_size));
}

void RowPatch::begin(std::span<const float> row, std::span<const float> maxima) {
    KVIK_CHECK(row.size() == logits_.size() && maxima.size() == maxima_.size() && patched_.empty(),
               "a patch is of one row of its vocabulary at a time");
    row_ = row;
    std::copy(maxima.begin(), maxima.end(), maxima_.begin());
}

float& RowPatch::at(TokenId id) {
    KVIK_CHECK(id >= 0 && static_cast<size_t>(id) < row_.size(), "a token of the vocabulary");
    const size_t t = static_cast<size_t>(id) / kLogitTile;
    if (!is_patched_[t]) {
        is_patched_[t] = 1;
        patched_.push_back(static_cast<uint32_t>(t));
        const size_t first = t * kLogitTile;
        const auto tile = row_.subspan(first, std::min(kLogitTile, row_.size() - first));
        std::copy(tile.begin(), tile.end(), logits_.begin() + static_cast<std::ptrdiff_t>(first));
    }
    return logits_[static_cast<size_t>(id)];
}

TiledRow RowPatch::row() {
    const TiledRow row = {row_, maxima_, logits_.data(), is_patched_.data()};
    for (const uint32_t t : patched_) maxima_[t] = tile_maximum(row.tile(t));
    return row;
}

void RowPatch::end() {
    for (const uint32_t t : patched_) is_patched_[t] = 0;
    patched_.clear();
}

}  // namespace kvik
