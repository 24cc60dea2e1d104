// Chat prompts: messages -> rendered text -> ids, and the tokens that end a turn.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kvik/kvik.h"

namespace kvik {

// With the tokenizer's own spelling of BOS and EOS.
TemplateInputs template_inputs(const Tokenizer& tokenizer, std::vector<ChatMessage> messages);

// Ids of a rendered prompt, with BOS where the tokenizer adds one and the text has none.
std::vector<TokenId> encode_prompt(const Tokenizer& tokenizer, const MarkedText& text);

// `text` from byte `begin` on.
MarkedText text_from(const MarkedText& text, size_t begin);

// The control token that the template writes after an assistant's message, if it writes one.
std::optional<TokenId> find_turn_end(const Tokenizer& tokenizer, const ChatTemplate& chat_template);

// The tokenizer's eos, eot and further ends, those that the model names beside its tokenizer, and
// the turn's end, each once.
std::vector<TokenId> find_end_tokens(const Tokenizer* tokenizer, const ChatTemplate* chat_template,
                                     std::span<const TokenId> named = {});

}  // namespace kvik
