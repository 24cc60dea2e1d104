// GGUF metadata -> TokenizerSpec, and the chat templates' sources.
//
// Cost    copies the tokens and merges once.
// Errors  lists of different lengths, ids outside the vocabulary, types outside 1 .. 6, scores that
//         are no numbers: ErrorKind::file naming the key. What the tokenizer itself must know
//         (its model, its pattern, whether merges fit) make_tokenizer checks.
// Source  the GGUF specification, "Tokenizer".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/gguf_metadata.h"
#include "model/chat_templates.h"
#include "text/tokenizer.h"

namespace kvik {

// Nothing: the file has no tokenizer (no tokenizer.ggml.model). ErrorKind::unsupported: it has one
// of a model that kvik lacks ("no_vocab" is one), or a byte-level one without merges.
Result<std::optional<TokenizerSpec>> tokenizer_from_gguf(const GgufMetadata& metadata);

// The tokens that end an answer: eos, eot and eom, with a tokenizer or without.
Result<std::vector<TokenId>> end_tokens_from_gguf(const GgufMetadata& metadata);

// None: the file has no chat template.
Result<std::vector<NamedTemplate>> chat_templates_from_gguf(const GgufMetadata& metadata);

}  // namespace kvik
