// Prompt: what the user asks, from the argument, a file, stdin or token ids, and its way to tokens.
//
// Shape   PROMPT alone is the whole prompt and stdin is not touched, so that a loop over lines of
//         stdin keeps them. PROMPT and a file: PROMPT, an empty line, the file. `-` as either is
//         stdin; without both, stdin is the prompt. One line end at the end of a file or of stdin
//         is not part of the prompt.
// Errors  no prompt or an empty one: ErrorKind::usage. A model without tokenizer: unsupported.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/interrupts.h"
#include "kvik/kvik.h"

namespace kvik::cli {

// Where \n, \t, \r, \", \', \\ and \x41 stand for a character: as llama-cli has it in -p TEXT, but
// not in what a shell or a file gives as it is.
enum class Escapes : uint8_t { of_flag, all, none };

struct PromptSource {
    std::optional<std::string> argument, file;
    bool is_flag = false;  // the argument is that of -p
    Escapes escapes = Escapes::of_flag;
    bool is_given() const { return argument || file; }
};
std::string unescaped(std::string_view text);
Result<std::string> read_prompt(const PromptSource& source, Interrupts& interrupts);
// Says that a text was given on stdin which is not read, as a PROMPT was given too. Told once the
// model is loaded, since the program at the other end of the pipe may take a while to begin; and only
// where stdin was meant for this program (prompt.cpp), so that a loop is not told at each turn.
void tell_if_stdin_is_left(const PromptSource& source);
std::string join_prompt(const std::optional<std::string>& argument, std::string_view input);

// Ids of a text as it stands, BOS before it where the tokenizer adds one and the text has none.
Result<std::vector<TokenId>> encode_raw(const Engine& engine, std::string text, Specials specials);

}  // namespace kvik::cli
