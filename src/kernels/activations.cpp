#include "kernels/activations.h"

#include <cmath>

#include "base/check.h"
#include "base/checked.h"

namespace kvik {
namespace {

// Byte offsets of the parts within one piece of memory.
struct Parts {
    uint64_t q, d, u, nsum, floats, end;
};

Parts parts(uint32_t max_rows, uint32_t max_k, ActForms forms) {
    const uint64_t elements = round_up(max_rows, kPanelCols) * round_up(max_k, kGroup);
    const uint64_t groups = elements / kGroup;
    Parts p = {};
    p.d = round_up(forms.quantised ? elements : 0, 64);
    p.u = p.d + round_up(forms.quantised ? groups * 4 : 0, 64);
    p.nsum = p.u + (p.u - p.d);
    p.floats = p.nsum + (p.u - p.d);
    p.end = p.floats + round_up(forms.floats ? elements * 4 : 0, 64);
    return p;
}

}  // namespace

uint64_t Activations::bytes_needed(uint32_t max_rows, uint32_t max_k, ActForms forms) {
    return parts(max_rows, max_k, forms).end;
}

Activations::Activations(std::byte* memory, uint32_t max_rows, uint32_t max_k, ActForms forms)
    : forms_(forms), max_rows_(max_rows), max_k_(max_k) {
    const Parts p = parts(max_rows, max_k, forms);
    q_ = reinterpret_cast<int8_t*>(memory + p.q);
    d_ = reinterpret_cast<float*>(memory + p.d);
    u_ = reinterpret_cast<float*>(memory + p.u);
    nsum_ = reinterpret_cast<int32_t*>(memory + p.nsum);
    floats_ = reinterpret_cast<float*>(memory + p.floats);
}

void Activations::reset(uint32_t n_rows, uint32_t k) {
    KVIK_CHECK(n_rows <= max_rows_ && k <= max_k_, "activations fit their memory");
    KVIK_CHECK(!forms_.quantised || k % kGroup == 0, "quantised activations are whole groups");
    n_rows_ = n_rows;
    k_ = k;
}

QuantPanel Activations::quant_panel(uint32_t p) const {
    const uint64_t group = static_cast<uint64_t>(p) * kPanelCols * (k_ / kGroup);
    return {q_ + group * kGroup, d_ + group, u_ + group, nsum_ + group, panel_cols(p)};
}

int Activations::load_row(const KernelTable& kernels, uint32_t row, const float* x) {
    const uint32_t p = row / kPanelCols, c = row % kPanelCols;
    int finite = 1;
    if (forms_.quantised) finite = kernels.quantize(x, k_ / kGroup, quant_panel(p), c);
    if (forms_.floats) {
        float* out = floats_ + static_cast<uint64_t>(p) * kPanelCols * k_ + c;
        const uint32_t stride = panel_cols(p);
        for (uint32_t i = 0; i < k_; ++i) {
            out[static_cast<uint64_t>(i) * stride] = x[i];
            finite &= std::isfinite(x[i]) ? 1 : 0;
        }
    }
    return finite;
}

}  // namespace kvik
