#include "kernels/matmul.h"

namespace kvik {
namespace {

constexpr uint32_t kDirectPanels = 8;  // up to 96 rows; measured, changes no bit

const TileKernels& kernels_of(const KernelTable& kernels, const PackedMatrix& matrix) {
    return kernels.types[static_cast<size_t>(matrix.type)];
}

}  // namespace

TilePair::TilePair(const KernelTable& kernels, Act act, TileRef a, TileRef b, const Activations& x,
                   TileScratch& scratch)
    : kernels_(kernels), x_(x), scratch_(scratch), act_(act) {
    a_.ref = a;
    b_.ref = b;
    prepare(a_, 0);
    if (b.matrix) prepare(b_, 1);
}

// A few panels read the tile as it lies; more pay for unpacking once.
void TilePair::prepare(Half& half, uint32_t index) {
    const PackedMatrix& matrix = *half.ref.matrix;
    const uint8_t* tile = matrix.tile(half.ref.tile);
    const TileKernels& kernels = kernels_of(kernels_, matrix);
    const ActForms form = act_forms(act_, matrix);
    if (form.floats) {
        if (kernels.matmul_floats) return;
        float* decoded = scratch_.decoded + uint64_t{index} * x_.k() * kTileRows;
        kernels.decode(tile, matrix.n_groups(), decoded);
        half.decoded = decoded;
        return;
    }
    if (x_.n_panels() <= kDirectPanels) return;
    if (form.super) {
        if (!kernels.super_unpack) return;
        UnpackedSuperGroup* to = scratch_.unpacked_super + uint64_t{index} * (x_.k() / kSuperGroup);
        kernels.super_unpack(tile, matrix.n_groups(), to);
        half.unpacked_super = to;
    } else {
        UnpackedGroup* to = scratch_.unpacked + uint64_t{index} * (x_.k() / kGroup);
        kernels.unpack(tile, matrix.n_groups(), to);
        half.unpacked = to;
    }
}

void TilePair::run(uint32_t panel) const {
    const uint32_t n = x_.panel_cols(panel);
    float* out = scratch_.out;
    if (a_.unpacked) {
        const TileTraits& a = tile_traits(a_.ref.matrix->type);
        const bool together = b_.unpacked && b_.ref.matrix->type == a_.ref.matrix->type;
        kernels_.matmul_unpacked(a_.unpacked, together ? b_.unpacked : nullptr, x_.k() / kGroup,
                                 a.zero_shift, a.has_min, x_.quant_panel(panel), 0, n,
                                 {out, kSinkStride}, {out + kTileRows, kSinkStride});
        if (together) return;
    } else {
        run_half(a_, panel, out);
    }
    if (b_.ref.matrix) run_half(b_, panel, out + kTileRows);
}

void TilePair::run_half(const Half& half, uint32_t panel, float* out) const {
    const PackedMatrix& matrix = *half.ref.matrix;
    const uint32_t n = x_.panel_cols(panel);
    const TileOut to = {out, kSinkStride};
    const TileKernels& kernels = kernels_of(kernels_, matrix);
    const uint8_t* tile = matrix.tile(half.ref.tile);
    if (kernels.matmul_floats) {
        kernels.matmul_floats(tile, x_.k(), x_.float_panel(panel), n, n, to);
    } else if (half.decoded) {
        kernels_.matmul_f32(half.decoded, x_.k(), x_.float_panel(panel), n, n, to);
    } else if (half.unpacked) {
        const TileTraits& traits = tile_traits(matrix.type);
        kernels_.matmul_unpacked(half.unpacked, nullptr, x_.k() / kGroup, traits.zero_shift,
                                 traits.has_min, x_.quant_panel(panel), 0, n, to, to);
    } else if (half.unpacked_super) {
        kernels_.super_matmul_unpacked(matrix.type, half.unpacked_super, matrix.n_groups(),
                                       x_.super_panel(panel), 0, n, to);
    } else if (kernels.super_matmul) {
        kernels.super_matmul(tile, matrix.n_groups(), x_.super_panel(panel), 0, n, to);
    } else {
        kernels.matmul(tile, matrix.n_groups(), x_.quant_panel(panel), 0, n, to);
    }
}

}  // namespace kvik
