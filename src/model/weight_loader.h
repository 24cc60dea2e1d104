// Carries out a WeightPlan: checks every tensor, then packs all of them in parallel.
//
// Errors  see load.h.   Threads  the calling thread and the pool.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "base/thread_pool.h"
#include "formats/tensor_file.h"
#include "model/weight_plan.h"

namespace kvik {

struct PackedWeights {
    uint64_t n_parameters = 0;
    uint64_t n_bytes = 0;  // resident
    std::string digest;    // hex: over names, types, shapes and every byte of the tensors
};

// By the plan's name or another that stands for it; null: not there.
const TensorEntry* find_tensor(const TensorFile& file, ModelFormat format, const std::string& name);

// Whether `file` has all that the plan asks for and nothing else; fills in the types and shapes of
// the plan's matrices. The bytes that the packed weights would take.
Result<uint64_t> check_weights(const TensorFile& file, const std::string& file_name,
                               const WeightPlan& plan);

// Fills in `weights` (arena, matrices, vectors) from `file`. `file_name` is for messages.
Result<PackedWeights> pack_weights(const TensorFile& file, const std::string& file_name,
                                   const WeightPlan& plan, TransformerWeights& weights,
                                   ThreadPool& pool,
                                   const std::function<void(uint64_t, uint64_t)>& progress);

}  // namespace kvik
