// Ceilings: how fast this machine reads memory and multiplies, measured with kvik's own inner loops.
//
// Threads those of the pool; `one` is the calling thread alone.
// Cost    about 0.4 s, and a buffer of the given size while it measures memory.
// Errors  ErrorKind::memory: no room for the buffer.
// Invariant the best of many short rounds: what other programs take away shows least.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/thread_pool.h"
#include "kernels/table.h"

namespace kvik::cli {

struct Rate {
    double one = 0;  // thread
    double all = 0;  // threads of the pool
};

struct Ceilings {
    Rate read_bytes_per_s;
    Rate int8_ops_per_s;  // a multiplication and an addition are two
    Rate f32_ops_per_s;
};

inline constexpr uint64_t kReadBuffer = 128ull << 20;  // larger than what caches hold of it

Result<Ceilings> measure_ceilings(const KernelTable& kernels, ThreadPool& pool,
                                  uint64_t buffer_bytes = kReadBuffer);

}  // namespace kvik::cli
