#include <unistd.h>

#include "cli/chat_loop.h"
#include "cli/flags/habits.h"
#include "cli/flags/prompt_flags.h"
#include "cli/local_time.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/text_side.h"
#include "cli/verbs.h"

namespace kvik::cli {

Result<int> chat(const Call& call) {
    EngineOptions engine_options;
    ChatOptions options;
    options.settings.sampling.seed = draw_seed();
    std::optional<std::string> model_system;
    Flags flags("chat", "A conversation. Each line is a message; /help lists the commands.");
    PromptSource first_message;
    add_model(flags, engine_options.model_path, &model_system);
    add_prompt_flags(flags, first_message, "the first message");
    flags.heading("Conversation");
    flags.add({.name = "--system",
               .value = "TEXT",
               .help = "system message",
               .set = into(options.system),
               .settable = Settable::anywhere,
               .aliases = {"-sys", "--system-prompt"}});
    flags.add({.name = "-cnv",
               .set = [](std::string_view) { return Result<void>(); },
               .aliases = {"--conversation", "-i", "--interactive", "-if", "--interactive-first"},
               .standing = Standing::hidden});
    flags.add({.name = "-no-cnv",
               .set = refuse("kvik run --raw completes a text"),
               .aliases = {"--no-conversation", "--raw"},
               .standing = Standing::hidden});
    flags.add({.name = "-st",
               .set = refuse("kvik run gives one answer"),
               .aliases = {"--single-turn"},
               .standing = Standing::hidden});
    flags.add({.name = "--overflow",
               .value = "error|truncate",
               .help = "of a full context: an error, or the oldest messages are left out",
               .set = choose(options.settings.session.overflow, overflow_choices()),
               .settable = Settable::anywhere});
    flags.add({.name = "--invalidation",
               .value = "full|partial|lazy",
               .help = "of KV that an edit leaves behind: forgotten, kept, evicted first",
               .set = choose(options.settings.session.invalidation, invalidation_choices()),
               .settable = Settable::anywhere});
    flags.add({.name = "--resume",
               .help = "go on with the last conversation with this model",
               .set = turn_on(options.resume)});
    flags.add({.name = "--no-autosave",
               .help = "do not keep the conversation for --resume",
               .set = turn_on(options.no_autosave),
               .settable = Settable::anywhere});
    flags.add({.name = "--no-wrap",
               .help = "let the terminal break the lines of answers, not between words",
               .set = turn_on(options.no_wrap),
               .settable = Settable::anywhere});
    add_template_flag(flags, engine_options.chat_template);
    add_answer_flags(flags, options.settings.answer);
    add_sampling_flags(flags, options.settings.sampling);
    add_engine_flags(flags, engine_options);
    add_cache_switch(flags, engine_options);
    add_draft_flag(flags);
    add_habits(flags);
    flags.epilogue(
        "Ctrl-C stops an answer and keeps what was said; at the prompt it drops the line.\n"
        "Ctrl-D leaves; /help lists the commands. Between \"\"\" and \"\"\" several lines are one\n"
        "message, and so is a paste; a line that ends in \\ goes on in the next. Without a\n"
        "terminal the lines of stdin are the messages, and answers go to stdout.\n");
    KVIK_TRY(const auto shown, begin(flags, call));
    if (shown) return *shown;

    if (!options.system) options.system = std::move(model_system);
    options.environment = call.environment;
    options.model_path = engine_options.model_path;
    engine_options.now = local_now();
    engine_options.costs_folder = own_cache_folder(call.environment).value_or("");
    const bool borrows = engine_options.chat_template.empty();
    Interrupts interrupts;
    if (first_message.is_given()) {
        KVIK_TRY(options.first_message, read_prompt(first_message, interrupts));
    }
    KVIK_TRY(const auto engine,
             open_engine(std::move(engine_options), interrupts, ErrorFormat::text));
    if (const std::string& builtin = engine->used().builtin_template; borrows && !builtin.empty()) {
        note_dim("kvik: " + borrowed_template(builtin));
        note("\n");
    }
    ChatLoop loop(*engine, std::move(options), interrupts);
    Result<int> exit_code = loop.talk();
    if (const auto kept = engine->finish_disk(); !kept)
        note("kvik: " + printable(kept.error().message) + "\n");
    return exit_code;
}

}  // namespace kvik::cli
