// What a tokenizer.json does to a text around its model: normalizer, pre_tokenizer, post_processor
// and decoder.
//
// Errors  a step that kvik has not, or has in another order or setting: unsupported, by its name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/hf_tokenizer_json.h"
#include "text/tokenizer.h"

namespace kvik {

struct HfSteps {
    std::vector<NormalizerStep> normalizer;
    bool marks_spaces = false;  // U+2581 for every space
    std::vector<std::string> splits;
    bool is_byte_level = false;
    SpacePrefix space_prefix = SpacePrefix::never;
    bool splits_at_spaces = false;
    std::optional<HfJson> bos;  // the id that goes before a text
};

Result<HfSteps> read_hf_steps(const HfJson& root);

}  // namespace kvik
