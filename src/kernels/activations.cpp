#include "kernels/activations.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/checked.h"

namespace kvik {
namespace {

// Byte offsets of the parts within one piece of memory.
struct Parts {
    uint64_t q, d, u, nsum, super_q, super_d, nsum16, nsum32, floats, end;
};

Parts parts(uint32_t max_rows, uint32_t max_k, ActForms room) {
    const uint64_t rows = round_up(max_rows, kPanelCols);
    const uint64_t elements = rows * round_up(max_k, kGroup);
    const uint64_t super = rows * round_up(max_k, kSuperGroup);
    Parts p = {};
    uint64_t at = 0;
    const auto take = [&at](uint64_t n_bytes, bool wanted) {
        const uint64_t here = at;
        at += wanted ? round_up(n_bytes, 64) : 0;
        return here;
    };
    p.q = take(elements, room.quantised);
    p.d = take(elements / kGroup * 4, room.quantised);
    p.u = take(elements / kGroup * 4, room.quantised);
    p.nsum = take(elements / kGroup * 4, room.quantised);
    p.super_q = take(super, room.super);
    p.super_d = take(super / kSuperGroup * 4, room.super);
    p.nsum16 = take(super / 16 * 4, room.super);
    p.nsum32 = take(super / 32 * 2, room.super);
    p.floats = take(elements * 4, room.floats);
    p.end = at;
    return p;
}

}  // namespace

ActForms act_forms(Act act, const PackedMatrix& matrix) {
    const uint32_t group = tile_traits(matrix.type).group;
    if (act == Act::f32 || group == 1) return {.floats = true};
    if (group == kSuperGroup) return {.super = true};
    return {.quantised = true};
}

uint64_t Activations::bytes_needed(uint32_t max_rows, uint32_t max_k, ActForms forms) {
    return parts(max_rows, max_k, forms).end;
}

Activations::Activations(std::byte* memory, uint32_t max_rows, uint32_t max_k, ActForms forms)
    : room_(forms), max_rows_(max_rows), max_k_(max_k) {
    const Parts p = parts(max_rows, max_k, forms);
    q_ = reinterpret_cast<int8_t*>(memory + p.q);
    d_ = reinterpret_cast<float*>(memory + p.d);
    u_ = reinterpret_cast<float*>(memory + p.u);
    nsum_ = reinterpret_cast<int32_t*>(memory + p.nsum);
    super_q_ = reinterpret_cast<int8_t*>(memory + p.super_q);
    super_d_ = reinterpret_cast<float*>(memory + p.super_d);
    nsum16_ = reinterpret_cast<int32_t*>(memory + p.nsum16);
    nsum32_ = reinterpret_cast<int16_t*>(memory + p.nsum32);
    floats_ = reinterpret_cast<float*>(memory + p.floats);
}

void Activations::reset(uint32_t n_rows, uint32_t k, ActForms forms) {
    KVIK_CHECK(n_rows <= max_rows_ && k <= max_k_, "activations fit their memory");
    KVIK_CHECK(!forms.quantised || (room_.quantised && k % kGroup == 0),
               "quantised activations are whole groups");
    KVIK_CHECK(!forms.super || (room_.super && k % kSuperGroup == 0),
               "quantised activations are whole groups");
    KVIK_CHECK(!forms.floats || room_.floats, "there is room for float activations");
    n_rows_ = n_rows;
    // Even panels cost less than full ones and a rest; with many, the rest does not matter.
    constexpr uint32_t kEvenPanels = 4;
    const uint32_t n = n_panels();
    width_ = n == 0 || n > kEvenPanels ? kPanelCols : (n_rows + n - 1) / n;
    k_ = k;
    forms_ = forms;
}

QuantPanel Activations::quant_panel(uint32_t p) const {
    const uint64_t group = static_cast<uint64_t>(p) * kPanelCols * (k_ / kGroup);
    return {q_ + group * kGroup, d_ + group, u_ + group, nsum_ + group, panel_cols(p)};
}

SuperPanel Activations::super_panel(uint32_t p) const {
    const uint64_t group = static_cast<uint64_t>(p) * kPanelCols * (k_ / kSuperGroup);
    return {super_q_ + group * kSuperGroup, super_d_ + group, nsum16_ + group * 16,
            nsum32_ + group * 8, panel_cols(p)};
}

int Activations::load_row(const KernelTable& kernels, uint32_t row, const float* x) {
    const uint32_t p = row / width_, c = row % width_;
    int finite = 1;
    if (forms_.quantised) finite &= kernels.quantize(x, k_ / kGroup, quant_panel(p), c);
    if (forms_.super) finite &= kernels.super_quantize(x, k_ / kSuperGroup, super_panel(p), c);
    if (forms_.floats) {
        float* out = floats_ + static_cast<uint64_t>(p) * kPanelCols * k_ + c;
        const uint32_t stride = panel_cols(p);
        uint32_t top = 0;  // NaN and infinity are the largest
        for (uint32_t i = 0; i < k_; ++i)
            top = std::max(top, std::bit_cast<uint32_t>(x[i]) & 0x7fffffffu);
        finite &= top < 0x7f800000u ? 1 : 0;
        if (stride == 1)
            std::memcpy(out, x, k_ * sizeof(float));
        else
            for (uint32_t i = 0; i < k_; ++i) out[static_cast<uint64_t>(i) * stride] = x[i];
    }
    return finite;
}

int Activations::load_groups(const KernelTable& kernels, uint32_t row, uint32_t first, uint32_t n,
                             const float* x) {
    KVIK_CHECK(forms_.quantised && !forms_.super && !forms_.floats,
               "a row comes in parts in groups of 32 only");
    QuantPanel panel = quant_panel(row / width_);
    const uint64_t skip = uint64_t{first} * panel.stride;
    panel.q += skip * kGroup;
    panel.d += skip;
    panel.u += skip;
    panel.nsum += skip;
    return kernels.quantize(x, n, panel, row % width_);
}

}  // namespace kvik
