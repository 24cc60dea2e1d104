#include "kernels/matmul.h"

#include <algorithm>
#include <cstring>

namespace kvik {
namespace {

// Measured; they change no bit.
constexpr uint32_t kDirectPanels = 8;  // up to 96 rows
constexpr uint32_t kSingleRows = 2;    // so few read one tile after the other, in one stream

// Passes over a pair of tiles that all panels take together.
uint32_t n_passes(const Activations& x) {
    uint32_t n = 0;
    for (uint32_t p = 0; p < x.n_panels(); ++p) n += (x.panel_cols(p) + kPairCols - 1) / kPairCols;
    return n;
}

// Copies 16 outputs of each of n rows to out[row * width + first], cut at `width`.
void copy_tile(const float* tile, uint32_t n, uint32_t first, uint32_t width, const float* bias,
               float* out) {
    const uint32_t count = std::min(kTileRows, width - first);
    for (uint32_t c = 0; c < n; ++c) {
        float* to = out + uint64_t{c} * width + first;
        const float* from = tile + c * kSinkStride;
        if (!bias) {
            std::memcpy(to, from, count * sizeof(float));
            continue;
        }
        for (uint32_t r = 0; r < count; ++r) to[r] = from[r] + bias[first + r];
    }
}

}  // namespace

TileGemm::TileGemm(const KernelTable& kernels, Act act, const PackedMatrix& matrix,
                   const Activations& x, TileScratch& scratch)
    : kernels_(kernels),
      x_(x),
      scratch_(scratch),
      a_(side(act, matrix)),
      b_(a_),
      neighbours_(true),
      n_pairs_((matrix.n_tiles() + 1) / 2) {
    choose();
}

TileGemm::TileGemm(const KernelTable& kernels, Act act, const PackedMatrix& a,
                   const PackedMatrix& b, const Activations& x, TileScratch& scratch)
    : kernels_(kernels),
      x_(x),
      scratch_(scratch),
      a_(side(act, a)),
      b_(side(act, b)),
      neighbours_(false),
      n_pairs_(a.n_tiles()) {
    choose();
}

// A few panels read the tile as it lies; more pay for unpacking once, where reading is slower.
TileGemm::Side TileGemm::side(Act act, const PackedMatrix& matrix) const {
    const TileKernels& kernels = kernels_.types[static_cast<size_t>(matrix.type)];
    const ActForms form = act_forms(act, matrix);
    const bool many = x_.n_panels() > kDirectPanels;
    Path path = Path::tile;
    if (form.floats)
        path = kernels.matmul_floats                               ? Path::floats
               : kernels.decoded_pair && x_.n_rows() <= kPanelCols ? Path::few_decoded
                                                                   : Path::decoded;
    else if (form.super)
        path = many && kernels.super_unpack ? Path::super_unpacked : Path::super_tile;
    else if (many && (kernels.unpack_pays || !kernels.matmul_pair))
        path = Path::unpacked;
    return {&matrix, &kernels, path, matrix.tile_bytes(), matrix.n_groups()};
}

void TileGemm::choose() {
    if (a_.matrix->type != b_.matrix->type || a_.path != b_.path) return;
    const bool few = x_.n_rows() <= kSingleRows;
    together_ = a_.path == Path::unpacked || a_.path == Path::few_decoded ||
                (a_.path == Path::tile && a_.kernels->matmul_pair && !few) ||
                (a_.path == Path::super_tile && a_.kernels->super_pair && !few);
    const uint64_t lines = 2 * ((a_.tile_bytes + 63) / 64);
    const uint64_t turns =
        uint64_t{n_passes(x_)} * a_.n_groups * (a_.path == Path::super_tile ? 4 : 1);
    lines_ahead_ = static_cast<uint32_t>((lines + turns - 1) / turns);
}

PairTiles TileGemm::tiles_of(uint32_t pair) const {
    if (!neighbours_) return {pair, pair};
    return {2 * pair, 2 * pair + 1 < a_.matrix->n_tiles() ? 2 * pair + 1 : kNoTile};
}

// Where tiles are unpacked or decoded, that happens here: once for all panels.
TileGemm::Ready TileGemm::prepare(PairTiles tiles) const {
    const uint8_t* a = a_.matrix->data + tiles.a * a_.tile_bytes;
    make_ready(a_, a, 0);
    const uint64_t step = neighbours_ ? 2 : 1;
    const auto n_bytes = static_cast<uint32_t>(a_.tile_bytes);
    Ready ready = {a, nullptr, {a + step * n_bytes, nullptr, n_bytes, 0, lines_ahead_}};
    if (tiles.b == kNoTile) return ready;
    ready.b = b_.matrix->data + tiles.b * b_.tile_bytes;
    ready.ahead.then = ready.b + step * n_bytes;
    ready.ahead.n_then = n_bytes;
    make_ready(b_, ready.b, 1);
    return ready;
}

void TileGemm::make_ready(const Side& side, const uint8_t* tile, uint32_t index) const {
    if (side.path == Path::decoded)
        side.kernels->decode(tile, side.n_groups,
                             scratch_.decoded + uint64_t{index} * x_.k() * kTileRows);
    else if (side.path == Path::unpacked)
        side.kernels->unpack(tile, side.n_groups, scratch_.unpacked + index * side.n_groups);
    else if (side.path == Path::super_unpacked)
        side.kernels->super_unpack(tile, side.n_groups,
                                   scratch_.unpacked_super + index * side.n_groups);
}

void TileGemm::run(Ready& ready, uint32_t panel, TileOut a, TileOut b) const {
    if (together_ && ready.b) {
        if (a_.path == Path::tile) {
            a_.kernels->matmul_pair(ready.a, ready.b, a_.n_groups, x_.quant_panel(panel),
                                    x_.panel_cols(panel), a, b, ready.ahead);
            return;
        }
        if (a_.path == Path::few_decoded) {
            a_.kernels->decoded_pair(ready.a, ready.b, a_.n_groups, x_.float_panel(panel),
                                     x_.panel_cols(panel), a, b, ready.ahead);
            return;
        }
        if (a_.path == Path::super_tile) {
            a_.kernels->super_pair(ready.a, ready.b, a_.n_groups, x_.super_panel(panel),
                                   x_.panel_cols(panel), a, b, ready.ahead);
            return;
        }
        kernels_.matmul_unpacked(a_.matrix->type, scratch_.unpacked,
                                 scratch_.unpacked + a_.n_groups, a_.n_groups,
                                 x_.quant_panel(panel), 0, x_.panel_cols(panel), a, b);
        return;
    }
    run_one(a_, ready.a, 0, panel, a);
    if (ready.b) run_one(b_, ready.b, 1, panel, b);
}

void TileGemm::run_one(const Side& side, const uint8_t* tile, uint32_t index, uint32_t panel,
                       TileOut out) const {
    const uint32_t n = x_.panel_cols(panel);
    const TileKernels& kernels = *side.kernels;
    switch (side.path) {
        case Path::tile:
            return kernels.matmul(tile, side.n_groups, x_.quant_panel(panel), 0, n, out);
        case Path::super_tile:
            return kernels.super_matmul(tile, side.n_groups, x_.super_panel(panel), 0, n, out);
        case Path::floats:
            return kernels.matmul_floats(tile, x_.k(), x_.float_panel(panel), n, n, out);
        case Path::unpacked:
            return kernels_.matmul_unpacked(side.matrix->type,
                                            scratch_.unpacked + index * side.n_groups, nullptr,
                                            side.n_groups, x_.quant_panel(panel), 0, n, out, out);
        case Path::super_unpacked:
            return kernels_.super_matmul_unpacked(side.matrix->type,
                                                  scratch_.unpacked_super + index * side.n_groups,
                                                  side.n_groups, x_.super_panel(panel), 0, n, out);
        case Path::few_decoded: {
            Prefetch nothing = {};
            return kernels.decoded_pair(tile, nullptr, side.n_groups, x_.float_panel(panel), n, out,
                                        out, nothing);
        }
        case Path::decoded:
            return kernels_.matmul_f32(scratch_.decoded + uint64_t{index} * x_.k() * kTileRows,
                                       x_.k(), x_.float_panel(panel), n, n, out);
    }
}

void TileGemm::into(uint32_t begin, uint32_t end, const float* bias, float* out) const {
    const uint32_t width = a_.matrix->n_rows;
    for (uint32_t pair = begin; pair < end; ++pair) {
        const uint32_t first = 2 * pair * kTileRows, second = first + kTileRows;
        Ready ready = prepare(tiles_of(pair));
        for (uint32_t p = 0; p < x_.n_panels(); ++p) {
            float* to = out + uint64_t{x_.first_row(p)} * width;
            if (!bias && second + kTileRows <= width) {
                run(ready, p, {to + first, width}, {to + second, width});
                continue;
            }
            float* apart = scratch_.out;
            run(ready, p, {apart, kSinkStride}, {apart + kTileRows, kSinkStride});
            copy_tile(apart, x_.panel_cols(p), first, width, bias, to);
            if (ready.b) copy_tile(apart + kTileRows, x_.panel_cols(p), second, width, bias, to);
        }
    }
}

}  // namespace kvik
