// The model classes of Hugging Face Transformers, a row each: which fields of config.json a class has,
// and what a field that is left out stands for.
//
// Use     a reader asks find_hf_class for the row, then resolve_fields for the fields that count.
// Law     a field that the class does not have means nothing. A field that is left out has the
//         class's default; null counts only where the class takes it, and is not the default.
// Adding  a class: its name in tests/oracles/model_classes.py, which writes hf_class_table.inl.
// Errors  null where the class needs a value: ErrorKind::file, naming the field.
// Source  transformers 5.24.0, run; src/model/config_walk_test.cpp compares logits.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvik {

struct HfField {
    std::string_view name;
    std::string_view absent;  // what a field that is left out stands for, as JSON
    bool may_be_null;
};

// Another name of a field; where a file has both, this one counts.
struct HfAlias {
    std::string_view name, field;
};

enum class HfRopeSpelling : uint8_t {
    none,      // no RoPE
    one_set,   // rope_parameters is one set of parameters, rope_scaling replaces it
    per_kind,  // rope_parameters has a set for each kind of layer, rope_scaling adds to one
};

enum class HfBias : uint8_t { never, always, by_attention_bias };

struct HfClass {
    std::string_view model_type;
    std::span<const HfField> fields;  // by name
    std::span<const HfAlias> aliases = {};
    HfRopeSpelling rope = HfRopeSpelling::none;
    double rope_base = 0;
    double local_rope_base = 0;  // of layers with a window; 0: the same as elsewhere
    HfBias qkv_bias = HfBias::never, output_bias = HfBias::never;
    bool has_qk_norm = false;

    bool has(std::string_view field) const;
};

// The class that computes a file; null: there is no row.
const HfClass* find_hf_class(std::string_view model_type, const nlohmann::json& root);

// An object with exactly the fields that the class has.
Result<nlohmann::json> resolve_fields(const HfClass& row, const nlohmann::json& root,
                                      const std::string& file);

}  // namespace kvik
