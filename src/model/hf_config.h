// config.json of a Hugging Face directory -> ModelConfig.
//
// Keys    model_type names the class, hf_classes.h says which fields count and what one that is left
//         out stands for; both spellings of RoPE are read (rope_theta with rope_scaling, and
//         rope_parameters), and both of window patterns (layer_types, and a period).
// Errors  an architecture, RoPE type, activation or extra (softcaps, quantised weights) that is not
//         computed: ErrorKind::unsupported, naming it. A number of the wrong type or out of range:
//         ErrorKind::file, naming its key.
// Source  Llama 3's scaling: Meta 2024, arXiv 2407.21783, section 3.2, and the released config.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/config.h"

namespace kvik {

Result<ModelConfig> config_from_hf(const std::string& directory);
// `file` stands for the text in messages.
Result<ModelConfig> config_from_hf_text(std::string_view text, const std::string& file);

}  // namespace kvik
