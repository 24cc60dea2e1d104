// Activations: the rows of one step in the form that the matrix kernels read, panel by panel.
//
// Shape   n_rows rows of k elements; panel p holds rows [first_row(p), first_row(p) + panel_cols(p)).
//         A few panels are about as wide as each other, many hold 12.
//           int8 : R2's quantised groups of 32 (table.h, QuantPanel), or of 256 (SuperPanel)
//           f32  : [k][panel_cols(p)], column by column, for F16 and F32 weights and KVIK_ACT=f32
// Owner   memory of an arena, bound once; `reset` sets the shape of a step and never allocates.
// Threads different rows may be loaded by different workers; readers come after a barrier.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/pack.h"
#include "kernels/table.h"

namespace kvik {

enum class Act : uint8_t { int8, f32 };

// Which forms weights ask for.
struct ActForms {
    bool quantised = false;  // groups of 32
    bool super = false;      // groups of 256
    bool floats = false;

    void add(ActForms other) {
        quantised |= other.quantised;
        super |= other.super;
        floats |= other.floats;
    }
};
ActForms act_forms(Act act, const PackedMatrix& matrix);

class Activations {
  public:
    static uint64_t bytes_needed(uint32_t max_rows, uint32_t max_k, ActForms forms);
    // `memory` has bytes_needed(...) bytes, 64-byte aligned.
    Activations(std::byte* memory, uint32_t max_rows, uint32_t max_k, ActForms forms);

    // What the readers of this step ask for; forms that were not made room for are an error of ours.
    void reset(uint32_t n_rows, uint32_t k, ActForms forms);
    // Row `row` from x[k]. Returns 0 if a value is NaN or infinite.
    int load_row(const KernelTable& kernels, uint32_t row, const float* x);
    // Groups [first, first + n) of a row in groups of 32, from x[32 n]: for whoever makes a row part
    // by part. No other form may be asked for.
    int load_groups(const KernelTable& kernels, uint32_t row, uint32_t first, uint32_t n,
                    const float* x);

    uint32_t n_rows() const { return n_rows_; }
    uint32_t k() const { return k_; }
    uint32_t n_panels() const { return (n_rows_ + kPanelCols - 1) / kPanelCols; }
    uint32_t first_row(uint32_t p) const { return p * width_; }
    uint32_t panel_cols(uint32_t p) const { return std::min(n_rows_ - first_row(p), width_); }
    QuantPanel quant_panel(uint32_t p) const;
    SuperPanel super_panel(uint32_t p) const;
    const float* float_panel(uint32_t p) const {
        return floats_ + static_cast<uint64_t>(p) * kPanelCols * k_;
    }

  private:
    ActForms room_, forms_;
    uint32_t max_rows_ = 0, max_k_ = 0, n_rows_ = 0, k_ = 0;
    uint32_t width_ = kPanelCols;  // columns of all panels but the last
    int8_t* q_ = nullptr;
    float* d_ = nullptr;
    float* u_ = nullptr;
    int32_t* nsum_ = nullptr;
    int8_t* super_q_ = nullptr;
    float* super_d_ = nullptr;
    int32_t* nsum16_ = nullptr;
    int16_t* nsum32_ = nullptr;
    float* floats_ = nullptr;
};

}  // namespace kvik
