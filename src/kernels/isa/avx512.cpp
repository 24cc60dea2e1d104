// The kernels for avx512: vocabulary, bodies over it, table. The order matters.
// clang-format off
#include "kernels/simd/avx512.h"
#include "kernels/body/all.inl"
// clang-format on

namespace kvik {

const KernelTable kAvx512Kernels = {
#define KVIK_ISA_NAME "avx512"
#include "kernels/body/table.inl"
};

}  // namespace kvik
