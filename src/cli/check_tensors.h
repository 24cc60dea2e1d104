// check_tensors: every byte of a model's tensors read and decoded once, and what is wrong there.
//
// Threads the pool's; `progress` is called on the calling thread, with bytes done and in all.
// Cost    a pass over the file; memory 1 MiB a thread.
// Errors  a file that is cut, or cannot be read, meanwhile: ErrorKind::file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "formats/tensor_file.h"

namespace kvik::cli {

struct DamagedTensor {
    std::string name;
    uint64_t n_not_finite = 0;  // elements that are NaN or infinite
    uint64_t first_index = 0;   // of these
};

struct TensorCheck {
    uint64_t n_tensors = 0;
    uint64_t n_bytes = 0;
    std::vector<DamagedTensor> damaged;  // in the file's order, as all here
    std::vector<std::string> all_zero;   // odd, but no damage by itself: a bias may be
    uint64_t n_matrices = 0;             // tensors of two dimensions or more
    uint64_t n_zero_matrices = 0;
    std::string digest;  // hex, over names, types, shapes and bytes

    // A file that was made at its full size and never filled.
    bool is_empty() const { return n_matrices > 0 && n_zero_matrices == n_matrices; }
    bool is_sound() const { return damaged.empty() && !is_empty(); }
};

Result<TensorCheck> check_tensors(const TensorFile& file, ThreadPool& pool,
                                  const std::function<void(uint64_t, uint64_t)>& progress);

}  // namespace kvik::cli
