// Prompt: what the user asks, from the argument, stdin or token ids, and its way to tokens.
//
// Shape   argument and stdin together: the argument, an empty line, stdin. One line end at the end
//         of stdin is not part of the prompt.
// Errors  no prompt or an empty one: ErrorKind::usage. A model without tokenizer: unsupported.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/interrupts.h"
#include "kvik/kvik.h"

namespace kvik::cli {

// stdin is read unless it is a terminal or nothing that could hold a prompt (/dev/null).
Result<std::string> read_prompt(const std::optional<std::string>& argument, Interrupts& interrupts);
std::string join_prompt(const std::optional<std::string>& argument, std::string_view input);

// Ids of a text as it stands, BOS before it where the tokenizer adds one and the text has none.
Result<std::vector<TokenId>> encode_raw(const Engine& engine, std::string text, Specials specials);

}  // namespace kvik::cli
