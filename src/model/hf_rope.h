// RoPE as config.json spells it, in either way, -> RopeConfig.
#pragma once

#include "model/config.h"
#include "model/json_fields.h"

namespace kvik {

struct HfRope {
    RopeConfig all;    // of layers without a window
    RopeConfig local;  // of layers with one; n_dims 0: the same
};

// local_base: what the architecture's layers with a window have where the file says nothing; 0: the
// same as elsewhere.
Result<HfRope> rope_from_hf(const JsonFields& fields, uint32_t head_dim, double local_base);

// Divisor of pair i's frequency: between the long and the short wavelengths it goes from `factor`
// to 1.
struct Llama3Scaling {
    double factor = 1, low = 1, high = 4, original_context = 8192;
};
std::vector<double> llama3_divisors(const RopeConfig& rope, const Llama3Scaling& scaling);

}  // namespace kvik
