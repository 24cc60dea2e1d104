#include "cli/flags/text_flags.h"

#include <memory>

#include "cli/flags/habits.h"
#include "cli/ids.h"
#include "cli/prompt.h"

namespace kvik::cli {

// -p TEXT with the escapes that llama.cpp has there, unless --no-escape says otherwise.
static void add_escaped_text(Flags& flags, std::optional<std::string>& text) {
    struct Typed {
        std::optional<std::string> text;
        bool is_plain = false;
    };
    const auto typed = std::make_shared<Typed>();
    flags.add({.name = "-p",
               .value = "TEXT",
               .help = "as TEXT, where \\n, \\t and \\\" stand for a line end, a tab and a quote",
               .set = into(typed->text),
               .aliases = {"--prompt"}});
    flags.add({.name = "--no-escape",
               .help = "in -p TEXT they stay as they are",
               .set = turn_on(typed->is_plain)});
    flags.check([typed, &text]() -> Result<void> {
        if (typed->text) text = typed->is_plain ? *typed->text : unescaped(*typed->text);
        return {};
    });
}

Flags tokenize_flags(TokenizeOptions& options) {
    Flags flags("tokenize", "A text, or each line of stdin, to token ids; or back.");
    add_model(flags, options.model);
    flags.argument({.name = "TEXT",
                    .help = "this text instead of the lines of stdin; --text TEXT is the same",
                    .set = into(options.text),
                    .presence = Presence::optional,
                    .flags = {"--text", "-p", "--file"}});
    flags.add({.name = "--text",
               .value = "TEXT",
               .set = into(options.text),
               .standing = Standing::hidden});
    add_escaped_text(flags, options.text);
    flags.add({.name = "--file",
               .value = "F",
               .help = "the whole of this file as one text",
               .set = into(options.file),
               .aliases = {"-f"}});
    flags.add({.name = "--decode",
               .help = "the other way: lines of ids in (JSON lists or not), texts out",
               .set = turn_on(options.decode)});
    flags.add({.name = "--special",
               .help = "special tokens written in a text are recognised",
               .set = [&options](std::string_view) -> Result<void> {
                   options.specials = Specials::recognised;
                   return {};
               }});
    flags.add({.name = "--bos", .help = "the BOS token comes first", .set = turn_on(options.bos)});
    flags.add({.name = "--json",
               .help = "each output line is JSON: a list of ids, or a string with --decode",
               .set = turn_on(options.json),
               .aliases = {"--ids"}});
    flags.add({.name = "--no-bos",
               .set = [](std::string_view) { return Result<void>(); },
               .aliases = {"--no-parse-special", "--stdin", "--log-disable"},
               .standing = Standing::hidden});
    flags.add(
        {.name = "--jsonl", .help = "each input line is JSON too", .set = turn_on(options.jsonl)});
    return flags;
}

Flags template_flags(TemplateOptions& options) {
    Flags flags("template", "Messages as the model's chat template writes them, and their ids.");
    add_model(flags, options.model);
    flags.argument({.name = "MESSAGES",
                    .help =
                        "a JSON file, [{\"role\": \"user\", \"content\": \"...\"}]; - is stdin.\n"
                        "Or an object of \"messages\" and the template's variables, as "
                        "\"tools\"",
                    .set = into(options.messages_path)});
    add_template_flag(flags, options.wish.asked);
    flags.add({.name = "--json", .help = "one JSON object", .set = turn_on(options.json)});
    return flags;
}

Flags score_flags(ScoreOptions& options) {
    Flags flags("score", "Log-probability of every token of a text, and its perplexity.");
    add_model(flags, options.engine.model_path);
    flags.heading("Text");
    flags.add({.name = "--file",
               .value = "F",
               .help = "a text, tokenised with BOS if the model adds one (- is stdin)",
               .set = into(options.file),
               .aliases = {"-f"}});
    flags.add({.name = "--text", .value = "TEXT", .help = "this text", .set = into(options.text)});
    add_escaped_text(flags, options.text);
    flags.add({.name = "--ids",
               .value = "IDS",
               .help = "token ids: 1,2,3, [1,2,3] or @file.json",
               .set = into_ids(options.ids)});
    add_engine_flags(flags, options.engine);
    flags.heading("Output");
    flags.add({.name = "--json", .help = "one JSON object", .set = turn_on(options.json)});
    flags.add({.name = "--dump-logits",
               .value = "F.npy",
               .help = "all logits as a NumPy file, f32 [n_tokens, vocab_size]",
               .set = into(options.dump)});
    add_habits(flags);
    return flags;
}

}  // namespace kvik::cli
