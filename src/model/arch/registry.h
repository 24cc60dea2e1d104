// The architectures that kvik runs: what each computes whatever its files say, what files call it,
// and which of their tensors are its weights.
//
// Adding  a row in registry.cpp and, where no other plan fits, a file in arch/ (arch/plans.h);
//         docs/add-an-architecture.md has all steps.
// Threads stateless.   Cost  a walk over a handful of rows.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/config.h"
#include "model/format.h"
#include "model/weight_plan.h"

namespace kvik {

enum class EmbeddingScale : uint8_t { none, sqrt_hidden };

struct ArchitectureTraits {
    std::string_view name;
    std::string_view gguf = {};        // as general.architecture has it; empty: GGUF has it not
    std::string_view model_type = {};  // as config.json has it; empty: Hugging Face has it not
    RopeLayout gguf_rope = RopeLayout::halves;  // of GGUF's Q and K rows; Hugging Face's: halves
    ArchitectureMath math = {};                 // becomes that part of ModelConfig
    EmbeddingScale embedding = EmbeddingScale::none;
    // What GGUF leaves out. Of n layers the last one has no window; 0: none has one.
    uint32_t global_every = 0;
    double local_rope_base = 0;  // of layers with a window; 0: the same as elsewhere

    std::string_view name_in(ModelFormat format) const {
        return format == ModelFormat::gguf ? gguf : model_type;
    }
};

// Fills in what follows from the traits alone. The sizes of `config` are known already; `window` is
// the number of positions that a layer with a window sees, 0 where no layer has one.
void apply_traits(const ArchitectureTraits& traits, uint32_t window, ModelConfig& config);

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
