#include "cli/flags/run_flags.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "cli/flags/habits.h"
#include "cli/ids.h"

namespace kvik::cli {
namespace {

constexpr WholeRange kSeveral = {1, 256};  // what an engine runs at once, at most

void add_several_flags(Flags& flags, SeveralOptions& several) {
    flags.heading("Several answers, computed together");
    flags.add({.name = "--samples",
               .value = "N",
               .help = "so many answers, of seeds S, S+1, ... where --seed is S",
               .set = into_given(several.n_samples, kSeveral)});
    flags.add({.name = "--n",
               .value = "N",
               .set = refuse("-n N is the most tokens of an answer, --samples N gives N answers"),
               .standing = Standing::hidden});
    flags.add({.name = "--beams",
               .value = "N",
               .help = "beam search: the best of N hypotheses that go on side by side; nothing is "
                       "drawn",
               .set = into_given(several.n_beams, kSeveral)});
    flags.add({.name = "--length-penalty",
               .value = "A",
               .help = "with --beams: score = sum of log-probabilities / tokens^A (default: 1)",
               .set = [&several](std::string_view text) -> Result<void> {
                   double value = 0;
                   const char* end = text.data() + text.size();
                   const auto [at, error] = std::from_chars(text.data(), end, value);
                   if (text.empty() || at != end || error != std::errc())
                       return fail(ErrorKind::usage, fmt::format("'{}' is not a number", text));
                   several.length_penalty = value;
                   return {};
               }});
}

void add_terminal_flags(Flags& flags, bool& no_wrap, bool& verbose) {
    flags.add({.name = "--no-wrap",
               .help = "let the terminal break the lines of answers, not between words",
               .set = turn_on(no_wrap),
               .settable = Settable::anywhere,
               .aliases = {"--nowordwrap"}});
    flags.add({.name = "--verbose",
               .help = "after an answer: how long loading, prompt and answer took",
               .set = turn_on(verbose),
               .settable = Settable::anywhere,
               .aliases = {"--show-timings", "--perf"}});
}

}  // namespace

Flags run_flags(RunOptions& options) {
    Flags flags("run", "One answer. Without PROMPT, stdin is the prompt.");
    add_model(flags, options.engine.model_path, &options.model_system);
    add_prompt_flags(flags, options.prompt,
                     "what to ask; - is stdin; without it kvik chat at a terminal");
    flags.add({.name = "--system",
               .value = "TEXT",
               .help = "system message",
               .set = into(options.system),
               .settable = Settable::anywhere,
               .aliases = {"-sys", "--system-prompt"}});
    flags.add({.name = "--raw",
               .help = "no chat template; special tokens written in the prompt are recognised",
               .set = turn_on(options.raw),
               .aliases = {"-no-cnv", "--no-cnv", "--no-conversation"}});
    flags.add({.name = "--conversation",
               .help = "the prompt is a message, also to a model without a chat template of its "
                       "own,\nwhich completes otherwise",
               .set = turn_on(options.conversation)});
    add_template_flag(flags, options.engine.chat_template);
    flags.add({.name = "-cnv",
               .set = turn_on(options.wants_chat),
               .aliases = {"--cnv", "-i", "--interactive", "-if", "--interactive-first"},
               .standing = Standing::hidden});
    flags.add({.name = "-st",
               .set = [](std::string_view) { return Result<void>(); },
               .aliases = {"--single-turn"},
               .standing = Standing::hidden});
    flags.add({.name = "--resume",
               .help = "kvik chat goes on with the last conversation with this model",
               .set = turn_on(options.resumes)});
    // What chat, which these go to, says of them.
    for (const char* name : {"--no-autosave", "--no-wrap", "--overflow", "--invalidation"}) {
        const bool is_switch = std::string_view(name).starts_with("--no-");
        flags.add({.name = name,
                   .value = is_switch ? "" : "WORD",
                   .set = [&options, name](std::string_view) -> Result<void> {
                       options.of_chat = name;
                       return {};
                   },
                   .standing = Standing::hidden});
    }
    flags.add({.name = "--ids",
               .value = "IDS",
               .help = "the prompt as token ids: 1,2,3, [1,2,3] or @file.json",
               .set = into_ids(options.ids)});
    add_answer_flags(flags, options.answer);
    add_several_flags(flags, options.several);
    add_sampling_flags(flags, options.sampling);
    add_engine_flags(flags, options.engine);
    add_cache_switch(flags, options.engine);
    add_draft_flag(flags);
    flags.heading("Output");
    flags.add({.name = "--json",
               .help = "one JSON object at the end instead of text",
               .set = turn_on(options.json)});
    flags.add({.name = "--logits-hash",
               .help = "with --json: SHA-256 of the logits that tokens were picked from",
               .set = turn_on(options.logits_hash)});
    flags.add({.name = "--kv-report",
               .help = "where the prompt's KV came from, and why what was computed had to be",
               .set = turn_on(options.kv_report)});
    add_terminal_flags(flags, options.no_wrap, options.verbose);
    add_habits(flags);
    return flags;
}

Flags chat_flags(ChatFlags& options) {
    Flags flags("chat", "A conversation. Each line is a message; /help lists the commands.");
    add_model(flags, options.engine.model_path, &options.model_system, &options.model);
    add_prompt_flags(flags, options.first_message, "the first message");
    flags.heading("Conversation");
    flags.add({.name = "--system",
               .value = "TEXT",
               .help = "system message",
               .set = into(options.chat.system),
               .settable = Settable::anywhere,
               .aliases = {"-sys", "--system-prompt"}});
    flags.add({.name = "-cnv",
               .set = [](std::string_view) { return Result<void>(); },
               .aliases = {"--cnv", "--conversation", "-i", "--interactive", "-if",
                           "--interactive-first"},
               .standing = Standing::hidden});
    flags.add({.name = "-no-cnv",
               .set = refuse("kvik run --raw completes a text"),
               .aliases = {"--no-cnv", "--no-conversation", "--raw"},
               .standing = Standing::hidden});
    flags.add({.name = "-st",
               .set = refuse("kvik run gives one answer"),
               .aliases = {"--single-turn"},
               .standing = Standing::hidden});
    flags.add({.name = "--overflow",
               .value = "error|truncate",
               .help = "of a full context: an error, or the oldest messages are left out",
               .set = choose(options.chat.settings.session.overflow, overflow_choices()),
               .settable = Settable::anywhere});
    flags.add({.name = "--invalidation",
               .value = "full|partial|lazy",
               .help = "of KV that an edit leaves behind: forgotten, kept, evicted first",
               .set = choose(options.chat.settings.session.invalidation, invalidation_choices()),
               .settable = Settable::anywhere});
    flags.add({.name = "--resume",
               .help = "go on with the last conversation with this model",
               .set = turn_on(options.chat.resume)});
    flags.add({.name = "--no-autosave",
               .help = "do not keep the conversation for --resume",
               .set = turn_on(options.chat.no_autosave),
               .settable = Settable::anywhere});
    add_terminal_flags(flags, options.chat.no_wrap, options.chat.verbose);
    add_template_flag(flags, options.engine.chat_template);
    add_answer_flags(flags, options.chat.settings.answer);
    add_sampling_flags(flags, options.chat.settings.sampling);
    add_engine_flags(flags, options.engine);
    add_cache_switch(flags, options.engine);
    add_draft_flag(flags);
    add_habits(flags);
    flags.epilogue(
        "Ctrl-C stops an answer and keeps what was said; at the prompt it drops the line.\n"
        "Ctrl-D leaves; /help lists the commands. Between \"\"\" and \"\"\" several lines are one\n"
        "message, and so is a paste; a line that ends in \\ goes on in the next. Without a\n"
        "terminal the lines of stdin are the messages, and answers go to stdout.\n");
    return flags;
}

}  // namespace kvik::cli
