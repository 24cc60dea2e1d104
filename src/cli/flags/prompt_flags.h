// add_prompt_flags: the flags that say where the prompt of `run`, and the first message of `chat`,
// comes from (cli/prompt.h reads it).
#pragma once

#include <string>

#include "cli/flags/flags.h"
#include "cli/prompt.h"

namespace kvik::cli {

// PROMPT, -p, --prompt-file and -e. `help` says what PROMPT is. `source` is borrowed until parse.
void add_prompt_flags(Flags& flags, PromptSource& source, std::string help);

}  // namespace kvik::cli
