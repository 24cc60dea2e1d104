#include "cli/flags/text_flags.h"

#include "cli/ids.h"

namespace kvik::cli {

Flags tokenize_flags(TokenizeOptions& options) {
    Flags flags("tokenize", "Lines of stdin (or --text) to token ids, a line each; or back.");
    add_model(flags, options.model);
    flags.add({.name = "--text",
               .value = "TEXT",
               .help = "this text instead of the lines of stdin",
               .set = into(options.text)});
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
               .set = turn_on(options.json)});
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
               .set = into(options.file)});
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
    return flags;
}

}  // namespace kvik::cli
