// template_inputs, encode_prompt, find_end_tokens and others: from messages to the ids of a prompt,
// and the tokens that end an answer.
//
// Use     template_inputs() for a template, whose text encode_prompt() turns into ids. An engine
//         asks find_end_tokens() once, when it opens.
// Owner   nothing.
// Threads any; stateless.
// Cost    tokenising the text; find_turn_end also renders the template once.
// Errors  none: a template that cannot be rendered has no turn end.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kvik/kvik.h"

namespace kvik {

// Returns the messages with the tokenizer's spelling of BOS and EOS.
TemplateInputs template_inputs(const Tokenizer& tokenizer, std::vector<ChatMessage> messages);

// Returns the ids of a rendered prompt, with BOS where the tokenizer adds one and the text has
// none.
std::vector<TokenId> encode_prompt(const Tokenizer& tokenizer, const MarkedText& text);

// Returns `text` from byte `begin` on.
MarkedText text_from(const MarkedText& text, size_t begin);

// Returns the control token that the template writes after an assistant's message, if it writes
// one.
std::optional<TokenId> find_turn_end(const Tokenizer& tokenizer, const ChatTemplate& chat_template);

// Returns the tokens that end an answer, each once: the tokenizer's EOS, EOT and further ends,
// those that the model names itself (`named`), and the turn's end.
std::vector<TokenId> find_end_tokens(const Tokenizer* tokenizer, const ChatTemplate* chat_template,
                                     std::span<const TokenId> named = {});

}  // namespace kvik
