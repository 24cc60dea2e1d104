#include "sample/row.h"

#include <algorithm>

#include "base/check.h"
#include "sample/tiles.h"

namespace kvik {

float largest(const TiledRow& row) noexcept {
    const std::span<const float> maxima = row.maxima;
    F32x4 best[4];
    for (F32x4& b : best) b = all4(-std::numeric_limits<float>::infinity());
    size_t t = 0;
    for (; t + 16 <= maxima.size(); t += 16) {
        for (int v = 0; v < 4; ++v) {
            const F32x4 x = load4(maxima.data() + t + 4 * v);
            best[v] = x > best[v] ? x : best[v];
        }
    }
    float max = -std::numeric_limits<float>::infinity();
    for (const F32x4& b : best)
        for (int lane = 0; lane < 4; ++lane) max = std::max(max, b[lane]);
    for (; t < maxima.size(); ++t) max = std::max(max, maxima[t]);
    return max;
}

TokenId first_equal(const TiledRow& row, float value) noexcept {
    size_t first = row.size();
    for_each_from(row, value, [&](TokenId id, float) {
        first = static_cast<size_t>(id);
        return std::numeric_limits<float>::quiet_NaN();  // nothing is at least that: it ends
    });
    return static_cast<TokenId>(first);
}

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
