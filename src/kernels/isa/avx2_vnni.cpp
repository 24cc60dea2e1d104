// The kernels for avx2-vnni: vocabulary, bodies over it, table. The order matters.
// clang-format off
#include "kernels/simd/avx2_vnni.h"
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

const KernelTable kAvx2VnniKernels = {
#define KVIK_ISA_NAME "avx2-vnni"
#include "kernels/body/table.inl"
};

}  // namespace kvik
