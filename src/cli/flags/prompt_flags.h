// PromptFlags: where the prompt of `run`, and the first message of `chat`, comes from: an argument,
// -p TEXT or -f FILE.
//
// Errors  ErrorKind::usage where two of them are given; that of the file.
#pragma once

#include <optional>
#include <string>

#include "cli/flags.h"

namespace kvik::cli {

struct PromptFlags {
    std::optional<std::string> text, file;
    bool has_escapes = false;
};

// PROMPT, -p, -f and -e; `help` says what PROMPT is.
void add_prompt_flags(Flags& flags, PromptFlags& source, std::string help);

// Nothing if none was given. A line end at the end of a file is not part of it.
Result<std::optional<std::string>> read_source(const PromptFlags& source);

}  // namespace kvik::cli
