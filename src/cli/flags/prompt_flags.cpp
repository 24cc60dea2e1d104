#include "cli/flags/prompt_flags.h"

#include "cli/ids.h"

namespace kvik::cli {
namespace {

// \n, \t, \r, \", \' and \\, as llama-cli has them; another backslash stays.
std::string unescaped(std::string_view text) {
    static constexpr std::string_view kLetters = "ntr\"'\\", kMeant = "\n\t\r\"'\\";
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        const size_t letter = text[i] == '\\' && i + 1 < text.size() ? kLetters.find(text[i + 1])
                                                                     : std::string_view::npos;
        if (letter == std::string_view::npos) {
            out += text[i];
        } else {
            out += kMeant[letter];
            ++i;
        }
    }
    return out;
}

}  // namespace

void add_prompt_flags(Flags& flags, PromptFlags& source, std::string help) {
    flags.argument({.name = "PROMPT",
                    .help = std::move(help),
                    .set = into(source.text),
                    .presence = Presence::optional,
                    .flags = {"-p"}});
    flags.heading("Prompt");
    flags.add({.name = "-p",
               .value = "TEXT",
               .set = into(source.text),
               .aliases = {"--prompt"},
               .standing = Standing::hidden});
    flags.add({.name = "--file",
               .value = "FILE",
               .help = "the prompt is this file's text (- is stdin)",
               .set = into(source.file),
               .aliases = {"-f", "--prompt-file", "--in-file"}});
    flags.add({.name = "--escape",
               .help = "\\n, \\t and \\\" in the prompt stand for a line end, a tab and a quote",
               .set = turn_on(source.has_escapes),
               .aliases = {"-e"}});
}

Result<std::optional<std::string>> read_source(const PromptFlags& source) {
    std::optional<std::string> text = source.text;
    if (source.file) {
        if (text) return fail(ErrorKind::usage, "give PROMPT or --file, not both");
        KVIK_TRY(text, read_file(*source.file));
        if (text->ends_with('\n')) text->pop_back();
        if (text->ends_with('\r')) text->pop_back();
    }
    if (text && source.has_escapes) text = unescaped(*text);
    return text;
}

}  // namespace kvik::cli
