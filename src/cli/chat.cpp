#include <unistd.h>

#include "cli/chat_loop.h"
#include "cli/flags/run_flags.h"
#include "cli/local_time.h"
#include "cli/terminal.h"
#include "cli/text_side.h"
#include "cli/verbs.h"

namespace kvik::cli {
namespace {

// The arguments and variables of a call again, over the settings of a conversation that is gone on
// with: these beat what the configuration file and the model say, and are beaten by the call.
Result<void> overrule(const Call& call, ChatSettings& saved, std::optional<std::string>& system) {
    ChatFlags again;
    again.chat.settings = saved;
    again.chat.settings.answer.stop.clear();
    ConfigChoice choice;
    Flags flags = chat_flags(again);
    add_config_flags(flags, choice);
    flags.leave_idle_untold();
    KVIK_TRY_VOID(flags.parse(call.args, call.environment));
    std::vector<std::string> stop = std::move(saved.answer.stop);
    saved = std::move(again.chat.settings);
    if (saved.answer.stop.empty()) saved.answer.stop = std::move(stop);
    system = std::move(again.chat.system);
    return {};
}

}  // namespace

Result<int> chat(const Call& call) {
    ChatFlags given;
    EngineOptions& engine_options = given.engine;
    ChatOptions& options = given.chat;
    options.settings.sampling.seed = draw_seed();
    const Flags flags = chat_flags(given);
    KVIK_TRY(const auto shown, begin(flags, call));
    if (shown) return *shown;

    if (!options.system) options.system = std::move(given.model_system);
    options.environment = call.environment;
    // Models of Ollama's that share their weights are different ones: the manifest tells them apart.
    const bool is_ollamas = !given.model.manifest.empty();
    options.model_path = is_ollamas ? given.model.manifest : engine_options.model_path;
    options.model_name = given.model.name;
    options.overrule = [&call](ChatSettings& saved, std::optional<std::string>& system) {
        return overrule(call, saved, system);
    };
    engine_options.now = local_now();
    engine_options.costs_folder = own_cache_folder(call.environment).value_or("");
    const bool borrows = engine_options.chat_template.empty();
    Interrupts interrupts(Interrupts::Ends::taken);
    if (given.first_message.is_given()) {
        KVIK_TRY(options.first_message, read_prompt(given.first_message, interrupts));
    }
    KVIK_TRY(const auto engine,
             open_engine(std::move(engine_options), interrupts, ErrorFormat::text));
    if (const std::string& builtin = engine->used().builtin_template; borrows && !builtin.empty()) {
        note_line("kvik: " + borrowed_template(builtin));
    }
    ChatLoop loop(*engine, std::move(options), interrupts);
    Result<int> exit_code = loop.talk();
    if (const auto kept = engine->finish_disk(); !kept)
        note("kvik: " + printable(kept.error().message) + "\n");
    return exit_code;
}

}  // namespace kvik::cli
