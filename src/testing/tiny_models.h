// tiny_model: a small random model of an architecture as a Hugging Face directory, for tests that
// need every kind of layer but no real model.
//
// Use     TinyModel m = tiny_model("gemma3_text"); m.write(directory); m.tensor("lm_head.weight").
// Invariant the same type and seed give the same bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kvik {

struct TinyModel {
    struct Tensor {
        std::vector<uint64_t> dims;
        std::vector<float> values;
    };

    std::string type;  // config.json's model_type
    uint32_t n_layers = 3;
    uint32_t hidden_size = 64;
    uint32_t n_heads = 4;
    uint32_t n_kv_heads = 2;
    uint32_t head_dim = 16;
    uint32_t intermediate_size = 96;
    uint32_t vocab_size = 77;
    uint32_t context_length = 1024;
    std::vector<uint32_t> windows;  // [n_layers], 0: all; empty: no layer has one
    double rope_base = 10000;
    double local_rope_base = 10000;  // of layers with a window
    double llama3_factor = 0;        // 0: no scaling; else with bounds 1 and 4 of 32 positions
    bool tied = true;
    std::string config;  // the text of config.json
    std::map<std::string, Tensor> tensors;

    const Tensor& tensor(const std::string& name) const { return tensors.at(name); }
    bool has(const std::string& name) const { return tensors.contains(name); }
    bool write(const std::string& directory) const;  // false: it could not be written
};

// All that tiny_model knows: one of each architecture, and llama3's scaling.
std::vector<std::string> tiny_model_types();
// `head_dim` 0: the type's own.
TinyModel tiny_model(std::string_view type, uint64_t seed = 1, uint32_t head_dim = 0);

}  // namespace kvik
