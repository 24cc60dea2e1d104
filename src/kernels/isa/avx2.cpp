// The kernels for avx2: vocabulary, bodies over it, table. The order matters.
// clang-format off
#include "kernels/simd/avx2.h"
#include "kernels/body/all.inl"
// clang-format on

namespace kvik {

const KernelTable kAvx2Kernels = {
#define KVIK_ISA_NAME "avx2"
#include "kernels/body/table.inl"
};

}  // namespace kvik
