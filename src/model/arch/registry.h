// The architectures that kvik runs: what each computes, and how its tensors become
// TransformerWeights.
//
// Adding  one file in arch/ (or none, if another's plan fits) and a row in registry.cpp; a step's
//         differences are ModelConfig fields.
#pragma once

#include <span>
#include <string_view>

#include "model/arch/traits.h"
#include "model/weight_plan.h"

namespace kvik {

struct Architecture {
    ArchitectureTraits traits;
    // Sizes weights.layers and fills in the plan.
    void (*plan)(const ModelConfig& config, TransformerWeights& weights, WeightPlan& plan);
};

std::span<const Architecture> architectures();
const Architecture* find_architecture(std::string_view name);  // by traits.name; null: unknown
// By the name that files of a format give it; unknown: ErrorKind::unsupported with the list of
// those that are known. `where` names the file and the field.
Result<ArchitectureTraits> traits_named(ModelFormat format, std::string_view name,
                                        std::string_view where);

}  // namespace kvik
