// Whether a word in a verb's place is meant as a model: `kvik MODEL` and `kvik MODEL "QUESTION"`.
#pragma once

#include <string>

namespace kvik::cli {

// A path that exists, or a word written as paths and names of models are: with a slash, a colon
// (qwen2.5:0.5b) or ".gguf" at its end.
bool may_be_model(const std::string& word);

}  // namespace kvik::cli
