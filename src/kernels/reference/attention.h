// The scalar reference's attention: R5 and R10 of SPEC.md, for each type of KV.
#pragma once

#include "kernels/table.h"

namespace kvik::reference {

void attend_f16(const AttentionChunk& chunk) noexcept;
void attend_f32(const AttentionChunk& chunk) noexcept;
void attend_q8(const AttentionChunk& chunk) noexcept;
int quantize_group(const float* x, uint32_t n, int8_t* q, float* d) noexcept;
void merge_state(float m, float l, const float* o, uint32_t head_dim, float* into_m, float* into_l,
                 float* into_o) noexcept;

}  // namespace kvik::reference
