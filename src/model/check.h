// check_model: whether a model would load, and what it would take, from its headers alone.
//
// Cost    no tensor is read, nothing large is allocated.
// Errors  those of load_model for the same model.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/source.h"

namespace kvik {

// Of a step with one token. The products of attention are apart: they grow with the context.
struct ModelNeeds {
    uint64_t weight_bytes = 0;    // resident, packed
    uint64_t step_bytes = 0;      // of these, read in every step
    uint64_t quantised_macs = 0;  // multiply-adds with quantised weights, without the head's
    uint64_t float_macs = 0;      // with F32, F16 and BF16 weights
};

// `path` is for messages.
Result<ModelNeeds> check_model(const ModelSource& source, const std::string& path);

}  // namespace kvik
