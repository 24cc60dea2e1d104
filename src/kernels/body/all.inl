// All bodies over the vocabulary that comes before; the order matters.
// clang-format off
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
