// The kernels for avx512: vocabulary, bodies over it, table. The order matters.
// clang-format off
#include "kernels/simd/avx512.h"
#include "base/exp_terms.h"
#include "kernels/numerics.h"
#include "kernels/table.h"
#include "kernels/body/matmul.inl"
#include "kernels/body/rows.inl"
#include "kernels/body/tiles.inl"
#include "kernels/body/super_types.inl"
#include "kernels/body/super.inl"
#include "kernels/body/attention.inl"
// clang-format on

namespace kvik {

const KernelTable kAvx512Kernels = {
#define KVIK_ISA_NAME "avx512"
#include "kernels/body/table.inl"
};

}  // namespace kvik
