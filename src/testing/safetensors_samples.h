// Small safetensors files, some hundred bytes: for tests of readers, and the seeds of their fuzz
// target (tests/corpus/safetensors holds exactly these bytes).
//
// Invariant every sample is valid.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kvik {

struct SafetensorsSample {
    std::string name;  // as the corpus has it
    std::vector<std::byte> bytes;
};

// Files: plain ones, one with every kind of tensor that is skipped, one in unusual spelling.
std::vector<SafetensorsSample> safetensors_samples();

// An index and its shards "a" and "b" in one string, as the fuzz target reads them: the index | NUL
// | u16 bytes of a | a | b.
std::vector<SafetensorsSample> sharded_samples();

}  // namespace kvik
