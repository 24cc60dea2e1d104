// Ceilings: how fast this machine reads memory and multiplies, measured with kvik's own inner loops.
//
// Threads those of the pool; `one` is the calling thread alone.
// Cost    about 0.4 s, and a buffer of the given size while it measures memory.
// Errors  ErrorKind::memory: no room for the buffer.
// Invariant the best of many short rounds: what other programs take away shows least.
#pragma once

#include <cstdint>
#include <vector>

#include "base/arena.h"
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

// How fast memory is read now. That may wander within seconds: what is held against it is measured
// beside it.
class ReadMeter {
  public:
    // Borrows the pool.
    static Result<ReadMeter> open(ThreadPool& pool, uint64_t buffer_bytes = kReadBuffer);
    double one(double seconds);  // bytes per second of the calling thread
    double all(double seconds);  // of the pool

  private:
    ReadMeter(ThreadPool& pool, Arena buffer);
    const uint64_t* next_window();

    ThreadPool* pool_;
    Arena buffer_;
    uint64_t n_words_;  // of a window
    uint64_t round_ = 0;
    std::vector<uint64_t> sums_;  // a cache line each
};

Result<Ceilings> measure_ceilings(const KernelTable& kernels, ThreadPool& pool,
                                  uint64_t buffer_bytes = kReadBuffer);

}  // namespace kvik::cli
