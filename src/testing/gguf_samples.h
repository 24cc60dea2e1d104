// Small GGUF files, a kilobyte or so: for tests of readers, and the seeds of their fuzz target
// (tests/corpus/gguf holds exactly these bytes).
//
// Invariant every sample is valid and ends with its last tensor's last byte.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "testing/gguf_writer.h"

namespace kvik {

// What a llama file says of itself: 2 layers of 2 heads of 4, one KV head, 4 tokens; tied head;
// byte-level BPE with one merge. Only the embedding's weights are there.
GgufWriter sample_llama();

struct GgufSample {
    std::string name;  // as the corpus has it
    std::vector<std::byte> bytes;
};

// sample_llama, a version 2 file with a value of every type and a tensor of every dtype, and a
// SentencePiece vocabulary.
std::vector<GgufSample> gguf_samples();

}  // namespace kvik
