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
               .set = into(source.argument),
               .aliases = {"--prompt"},
               .standing = Standing::hidden});
    flags.add({.name = "--prompt-file",
               .value = "FILE",
               .help = "a file that is the prompt, or comes after PROMPT; - is stdin",
               .set = into(source.file),
               .aliases = {"-f", "--file", "--in-file"}});
    flags.add({.name = "--escape",
               .help = "\\n, \\t and \\\" in the prompt stand for a line end, a tab and a quote",
               .set = turn_on(source.has_escapes),
               .aliases = {"-e"}});
}

}  // namespace kvik::cli
