// Which KernelTable runs: the best that the CPU has, or the one that KVIK_ISA names.
//
// Errors  a name that is none: ErrorKind::usage with the list; an instruction set that this CPU
//         lacks: ErrorKind::unsupported.
// Adding  an instruction set: one file in simd/, one in isa/, a row in select.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/table.h"

namespace kvik {

Result<const KernelTable*> select_kernels(const std::optional<std::string>& name);
std::vector<const KernelTable*> runnable_kernels();  // scalar first, best last

}  // namespace kvik
