// find_damage: which weights of a model hold a NaN or an infinity, for the error of a step whose
// numbers are none.
//
// Cost    decodes every weight until it finds one: for an error, never on the way.
// Threads any: the weights are only read.
#pragma once

#include <string>

#include "model/config.h"
#include "model/weights.h"

namespace kvik {

// "the embedding", "the query weights of layer 3"; empty: all numbers are finite.
std::string find_damage(const TransformerWeights& weights, const ModelConfig& config);

}  // namespace kvik
