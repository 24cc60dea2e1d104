// Row tiles of packed weights times all rows of a step, two tiles at a time.
//
// Use     TileGemm product(kernels, act, a, b, x, scratch);    once a phase and worker
//         product.each(begin, end, sink): for every pair and panel, sink(pair, row, n, out) gets
//         out[c * 32 + r] for rows row .. row + n - 1: the first tile's 16 outputs at r < 16, the
//         second's at r >= 16.
//         product.into(begin, end, bias, out): the outputs of a matrix straight to rows of it.
// Threads one TileScratch a worker.  Cost  none allocates.
// Invariant R1: which path is taken (on the fly, unpacked, decoded) changes no bit.
#pragma once

#include <cstdint>

#include "kernels/activations.h"
#include "kernels/pack.h"

namespace kvik {

inline constexpr uint32_t kSinkStride = 2 * kTileRows;

// Working memory of one worker.
struct TileScratch {
    UnpackedGroup* unpacked = nullptr;             // [2][max_k / 32]
    UnpackedSuperGroup* unpacked_super = nullptr;  // [2][max_k / 256]
    float* decoded = nullptr;                      // [2][max_k][16]
    alignas(64) float out[kPanelCols * kSinkStride];

    static uint64_t unpacked_bytes(uint32_t max_k) {
        return 2ull * ((max_k + kGroup - 1) / kGroup) * sizeof(UnpackedGroup);
    }
    static uint64_t unpacked_super_bytes(uint32_t max_k) {
        return 2ull * ((max_k + kSuperGroup - 1) / kSuperGroup) * sizeof(UnpackedSuperGroup);
    }
    static uint64_t decoded_bytes(uint32_t max_k) { return 2ull * max_k * kTileRows * 4; }
};

inline constexpr uint32_t kNoTile = ~0u;
struct PairTiles {
    uint32_t a, b;  // b may be kNoTile
};

// The pairs of tiles of one matrix (2 p and 2 p + 1; the last may lack its second), or of two
// matrices of one shape (tile p of each).
class TileGemm {
  public:
    TileGemm(const KernelTable& kernels, Act act, const PackedMatrix& matrix, const Activations& x,
             TileScratch& scratch);
    TileGemm(const KernelTable& kernels, Act act, const PackedMatrix& a, const PackedMatrix& b,
             const Activations& x, TileScratch& scratch);

    uint32_t n_pairs() const { return n_pairs_; }

    // Pairs [begin, end).
    template <class Sink>
    void each(uint32_t begin, uint32_t end, const Sink& sink) const {
        for (uint32_t pair = begin; pair < end; ++pair) {
            const PairTiles tiles = tiles_of(pair);
            one(tiles,
                [&](uint32_t row, uint32_t n, const float* out) { sink(pair, row, n, out); });
        }
    }
    // Tile tiles.a of the first matrix and tiles.b of the second: sink(row, n, out).
    template <class Sink>
    void one(PairTiles tiles, const Sink& sink) const {
        Ready ready = prepare(tiles);
        for (uint32_t p = 0; p < x_.n_panels(); ++p) {
            run(ready, p, {scratch_.out, kSinkStride}, {scratch_.out + kTileRows, kSinkStride});
            sink(x_.first_row(p), x_.panel_cols(p), static_cast<const float*>(scratch_.out));
        }
    }
    // out[n_rows of x][n_rows of the matrix], with bias unless it is null. Of one matrix only.
    void into(uint32_t begin, uint32_t end, const float* bias, float* out) const;

  private:
    // How a matrix meets the rows.
    enum class Path : uint8_t {
        tile,
        super_tile,
        floats,
        unpacked,
        super_unpacked,
        decoded,
        few_decoded
    };
    struct Side {
        const PackedMatrix* matrix;
        const TileKernels* kernels;
        Path path;
        uint64_t tile_bytes;
        uint32_t n_groups;
    };
    // A pair at hand; `b` null: there is no second. What is unpacked or decoded lies in scratch.
    struct Ready {
        const uint8_t *a, *b;
        Prefetch ahead;
    };
    Side side(Act act, const PackedMatrix& matrix) const;
    void choose();
    PairTiles tiles_of(uint32_t pair) const;
    Ready prepare(PairTiles tiles) const;
    void make_ready(const Side& side, const uint8_t* tile, uint32_t index) const;
    void run(Ready& ready, uint32_t panel, TileOut a, TileOut b) const;
    void run_one(const Side& side, const uint8_t* tile, uint32_t index, uint32_t panel,
                 TileOut out) const;

    const KernelTable& kernels_;
    const Activations& x_;
    TileScratch& scratch_;
    Side a_, b_;
    bool neighbours_;
    bool together_ = false;  // one call serves both tiles
    uint32_t n_pairs_;
    uint32_t lines_ahead_ = 0;
};

// A tile of a matrix; matrix null: none.
struct TileRef {
    const PackedMatrix* matrix = nullptr;
    uint32_t tile = 0;
};

// Any two tiles: sink(row, n, out).
template <class Sink>
void matmul_tiles(const KernelTable& kernels, Act act, TileRef a, TileRef b, const Activations& x,
                  TileScratch& scratch, const Sink& sink) {
    const TileGemm product(kernels, act, *a.matrix, b.matrix ? *b.matrix : *a.matrix, x, scratch);
    product.one({a.tile, b.matrix ? b.tile : kNoTile}, sink);
}

}  // namespace kvik
