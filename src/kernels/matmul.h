// One or two row tiles of packed weights times all rows of a step.
//
// Use     matmul_tiles(context, {&w, t}, {&w, t + 1}, x, sink): for every panel, sink(row, n, out)
//         gets out[c * 32 + r] for rows row .. row + n - 1: the first tile's 16 outputs at r < 16,
//         the second's at r >= 16.
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

// A tile of a matrix; matrix null: none.
struct TileRef {
    const PackedMatrix* matrix = nullptr;
    uint32_t tile = 0;
};

// How one pair of tiles meets one panel; made once a pair, so that unpacking is paid once.
class TilePair {
  public:
    TilePair(const KernelTable& kernels, Act act, TileRef a, TileRef b, const Activations& x,
             TileScratch& scratch);
    void run(uint32_t panel) const;  // fills scratch.out

  private:
    struct Half {
        TileRef ref;
        const UnpackedGroup* unpacked = nullptr;
        const UnpackedSuperGroup* unpacked_super = nullptr;
        const float* decoded = nullptr;
    };
    void prepare(Half& half, uint32_t index);
    void run_half(const Half& half, uint32_t panel, float* out) const;

    const KernelTable& kernels_;
    const Activations& x_;
    TileScratch& scratch_;
    Act act_;
    Half a_, b_;
};

template <class Sink>
void matmul_tiles(const KernelTable& kernels, Act act, TileRef a, TileRef b, const Activations& x,
                  TileScratch& scratch, const Sink& sink) {
    const TilePair pair(kernels, act, a, b, x, scratch);
    for (uint32_t p = 0; p < x.n_panels(); ++p) {
        pair.run(p);
        sink(p * kPanelCols, x.panel_cols(p), static_cast<const float*>(scratch.out));
    }
}

}  // namespace kvik
