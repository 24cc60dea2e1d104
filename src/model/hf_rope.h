// RoPE as config.json spells it, in either way, -> RopeConfig.
//
// Law     where a file spells something twice, what Transformers reads counts: of one set of
//         parameters rope_scaling stands before rope_parameters, and a value within a set before
//         the same value beside it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "model/config.h"
#include "model/hf_classes.h"

namespace kvik {

struct HfRope {
    RopeConfig all;    // of layers without a window
    RopeConfig local;  // of layers with one; n_dims 0: the same
};

// What a set of parameters is read against. `root` is the whole file; the kinds of layers are those of
// a class that has layer_types.
struct HfRopeInput {
    const HfClass& row;
    const nlohmann::json& root;
    const std::string& file;
    uint32_t head_dim, context_length;
    bool has_full, has_sliding;
};
Result<HfRope> rope_from_hf(const HfRopeInput& input);

// Divisor of pair i's frequency: between the long and the short wavelengths it goes from `factor`
// to 1.
struct Llama3Scaling {
    double factor = 1, low = 1, high = 4, original_context = 8192;
};
std::vector<double> llama3_divisors(const RopeConfig& rope, const Llama3Scaling& scaling);

}  // namespace kvik
