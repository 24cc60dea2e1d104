// The kernels for avx2-vnni: vocabulary, bodies over it, table. The order matters.
// clang-format off
#include "kernels/simd/avx2_vnni.h"
#include "kernels/body/all.inl"
// clang-format on

namespace kvik {

const KernelTable kAvx2VnniKernels = {
#define KVIK_ISA_NAME "avx2-vnni"
#include "kernels/body/table.inl"
};

}  // namespace kvik
