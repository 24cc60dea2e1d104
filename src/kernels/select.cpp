#include "kernels/select.h"

#include <fmt/format.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace kvik {
namespace {

struct Candidate {
    const KernelTable* table;
    bool (*is_runnable)();
    std::string_view needs;
};

bool always() {
    return true;
}
#if defined(__x86_64__)
// CPUID leaf 1, ECX bit 29; clang's __builtin_cpu_supports does not know the name.
bool has_f16c() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & (1u << 29)) != 0;
}
bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}
// CPUID leaf 7.1, EAX bit 4; neither compiler's __builtin_cpu_supports knows the name everywhere.
bool has_avx2_vnni() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return has_avx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & (1u << 4)) != 0;
}
bool has_avx512() {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vnni");
}
#endif

// Slowest first.
constexpr Candidate kCandidates[] = {
    {&kScalarKernels, always, "nothing"},
#if defined(__x86_64__)
    {&kAvx2Kernels, has_avx2, "AVX2, FMA and F16C"},
    {&kAvx2VnniKernels, has_avx2_vnni, "AVX2, FMA, F16C and AVX-VNNI"},
    {&kAvx512Kernels, has_avx512, "AVX-512 F, BW, VL, DQ and VNNI"},
#endif
};

}  // namespace

std::vector<const KernelTable*> runnable_kernels() {
    std::vector<const KernelTable*> tables;
    for (const Candidate& candidate : kCandidates)
        if (candidate.is_runnable()) tables.push_back(candidate.table);
    return tables;
}

Result<const KernelTable*> select_kernels(const std::optional<std::string>& name) {
    if (!name) return runnable_kernels().back();
    std::string known;
    for (const Candidate& candidate : kCandidates) {
        known += known.empty() ? "" : ", ";
        known += candidate.table->name;
        if (*name != candidate.table->name) continue;
        if (candidate.is_runnable()) return candidate.table;
        return fail(ErrorKind::unsupported,
                    fmt::format("instruction set {} needs {}, which this CPU lacks: take another",
                                *name, candidate.needs));
    }
    return fail(
        ErrorKind::usage,
        fmt::format("instruction set '{}' (KVIK_ISA or --isa) is none of {}", *name, known));
}

}  // namespace kvik
