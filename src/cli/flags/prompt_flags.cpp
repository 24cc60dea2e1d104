#include "cli/flags/prompt_flags.h"

namespace kvik::cli {

void add_prompt_flags(Flags& flags, PromptSource& source, std::string help) {
    flags.argument({.name = "PROMPT",
                    .help = std::move(help),
                    .set = into(source.argument),
                    .presence = Presence::optional,
                    .flags = {"-p"}});
    flags.heading("Prompt");
    flags.add({.name = "-p",
               .value = "TEXT",
               .set = [&source](std::string_view text) -> Result<void> {
                   source.argument = std::string(text);
                   source.is_flag = true;
                   return {};
               },
               .aliases = {"--prompt"},
               .standing = Standing::hidden});
    flags.add({.name = "--prompt-file",
               .value = "FILE",
               .help = "a file that is the prompt, or comes after PROMPT; - is stdin",
               .set = into(source.file),
               .aliases = {"-f", "--file", "--in-file"}});
    flags.add(
        {.name = "--escape",
         .help = "\\n, \\t and \\\" in the prompt stand for a line end, a tab and a quote, as they "
                 "do in\n-p TEXT without it",
         .set = [&source](std::string_view) -> Result<void> {
             source.escapes = Escapes::all;
             return {};
         },
         .aliases = {"-e"}});
    flags.add({.name = "--no-escape",
               .help = "in -p TEXT too they stay as they are",
               .set = [&source](std::string_view) -> Result<void> {
                   source.escapes = Escapes::none;
                   return {};
               }});
}

}  // namespace kvik::cli
