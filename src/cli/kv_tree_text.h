// The prefix tree as people read it.
//
// Shape   a line for each stretch of tokens between two branches:
//             +- 120 tokens  "<|im_start|>system\nYou are"
//             |  +- 96 tokens, 64 on disk  "Hi there"
#pragma once

#include <string>
#include <vector>

#include "kvik/kvik.h"

namespace kvik::cli {

// tokenizer: null shows ids.
std::vector<std::string> draw_lines(const KvTree& tree, const Tokenizer* tokenizer);  // printable

}  // namespace kvik::cli
