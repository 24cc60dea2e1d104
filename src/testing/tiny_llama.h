// tiny_llama: a small random llama as a GGUF file, for tests that need real kernels but no real
// model: every head size, quantisation and grouping that the kernels take, in some milliseconds.
//
// Use     TinyLlama shape; shape.dtype = DType::q4_1; GgufWriter w = tiny_llama(shape);
// w.write(path).
#pragma once

#include <cstdint>
#include <string>

#include "tensor/dtype.h"
#include "testing/gguf_writer.h"

namespace kvik {

enum class TinyHead : uint8_t { tied, own };

struct TinyLlama {
    uint32_t n_layers = 2;
    uint32_t hidden_size = 64;
    uint32_t n_heads = 4;
    uint32_t n_kv_heads = 2;
    uint32_t intermediate_size = 96;
    uint32_t vocab_size = 77;  // no multiple of 16: the last tile is partly empty
    uint32_t context_length = 2048;
    DType dtype = DType::q8_0;
    TinyHead head = TinyHead::tied;
    uint64_t seed = 1;
    std::string without = {};  // a tensor that is left out
};

GgufWriter tiny_llama(const TinyLlama& shape);

}  // namespace kvik
