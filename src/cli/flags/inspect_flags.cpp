#include "cli/flags/inspect_flags.h"

#include <fmt/format.h>

namespace kvik::cli {

Flags list_flags(ListOptions& options) {
    Flags flags(
        "list",
        "The models that Ollama, LM Studio and the Hugging Face cache (where kvik pull puts "
        "them, too) have on this machine. A name is taken wherever a MODEL is.");
    flags.argument({.name = "PART",
                    .help = "only models whose names have this in them, in any case",
                    .set = into(options.part),
                    .presence = Presence::optional});
    flags.add({.name = "--json", .help = "one JSON object", .set = turn_on(options.json)});
    flags.epilogue(
        "Folders: OLLAMA_MODELS, else ~/.ollama/models, and /usr/share/ollama/.ollama/models;\n"
        "~/.lmstudio/models and ~/.cache/lm-studio/models; HF_HUB_CACHE, else HF_HOME/hub, else\n"
        "~/.cache/huggingface/hub.\n");
    return flags;
}

Flags pull_flags(PullOptions& options) {
    Flags flags("pull", "Fetches a model from Hugging Face into its cache. Prints the path.");
    flags.argument({.name = "MODEL",
                    .help =
                        "hf:OWNER/REPO, with :QUANT (such as :Q8_0) or /FILE.gguf for one GGUF of "
                        "several (default: Q4_K_M)",
                    .set = into(options.wish.name)});
    flags.add({.name = "--revision",
               .value = "REV",
               .help = "a branch, tag or commit (default: main); hf:OWNER/REPO@REV is the same",
               .set = into(options.wish.revision)});
    flags.add({.name = "--timeout",
               .value = "S",
               .help = "seconds without a byte, after which it connects anew (default: 30)",
               .set = into(options.wish.silence_s, {1, 3600})});
    flags.add({.name = "--offline",
               .help = "ask no network, which is an error here",
               .set = turn_on(options.wish.offline),
               .settable = Settable::anywhere});
    flags.add({.name = "--json", .help = "one JSON object", .set = turn_on(options.json)});
    flags.epilogue(
        "HF_TOKEN, or the file HF_HOME/token, opens what is private or gated. HF_ENDPOINT names\n"
        "another server than https://huggingface.co; HF_HOME or HF_HUB_CACHE another folder than\n"
        "~/.cache/huggingface. What was cut off, by Ctrl-C too, goes on where it stopped.\n");
    return flags;
}

Flags show_flags(ShowOptions& options) {
    Flags flags("show", "What a model holds, and the memory it needs. Weights are not read.");
    add_model(flags, options.path, nullptr, &options.chosen);
    flags.add({.name = "--check",
               .help = "read and decode every weight: would it load, is any number broken?",
               .set = turn_on(options.check)});
    const auto alone = [&](const char* name, const char* help) {
        flags.add(
            {.name = name, .help = help, .set = [&options, name](std::string_view) -> Result<void> {
                 if (!options.alone.empty())
                     return fail(ErrorKind::usage,
                                 fmt::format("stands alone, {} is given too", options.alone));
                 options.alone = name;
                 return {};
             }});
    };
    alone("--template", "the whole chat template, and nothing else");
    alone("--system", "the system message of a model of Ollama's, and nothing else");
    alone("--parameters", "the parameters of a model of Ollama's, and nothing else");
    alone("--modelfile", "all that kvik takes of a model of Ollama's, written as a Modelfile");
    flags.add({.name = "--license",
               .set = refuse("kvik does not read licences: ollama show --license prints it"),
               .standing = Standing::hidden});
    flags.add(
        {.name = "--tensors", .help = "every tensor too", .set = turn_on(options.every_tensor)});
    flags.add({.name = "--json", .help = "one JSON object", .set = turn_on(options.json)});
    return flags;
}

Flags doctor_flags(DoctorOptions& options) {
    Flags flags("doctor", "What this machine has, how fast it is, and what kvik makes of it.");
    flags.argument({.name = "MODEL",
                    .help =
                        "whose steps are timed too: a GGUF file, a Hugging Face directory, or a "
                        "name that kvik list has",
                    .set = into(options.engine.model_path),
                    .presence = Presence::optional});
    flags.add({.name = "--json", .help = "one JSON object", .set = turn_on(options.json)});
    add_engine_flags(flags, options.engine);
    return flags;
}

Flags fsck_flags(FsckOptions& options) {
    Flags flags("fsck", "Reads every byte of a folder of KV and says what is sound.");
    flags.argument({.name = "DIR", .help = "what --cache-dir named", .set = into(options.folder)});
    flags.add({.name = "--repair",
               .help = "cuts off what is unfinished, keeps what is sound, deletes the rest",
               .set = turn_on(options.repairs)});
    flags.add({.name = "--json", .help = "one JSON object", .set = turn_on(options.json)});
    flags.epilogue("Exit status 3: there is damage, and it was not repaired.");
    return flags;
}

}  // namespace kvik::cli
