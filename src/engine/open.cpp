// Engine::open: from a path to an engine that runs.
#include <fmt/format.h>

#include "engine/chat_prompt.h"
#include "engine/engine_impl.h"
#include "kernels/select.h"
#include "model/load.h"
#include "text/builtin_templates.h"

namespace kvik {

static Result<Act> act_named(const std::string& name) {
    if (name == "int8") return Act::int8;
    if (name == "f32") return Act::f32;
    return fail(ErrorKind::usage, fmt::format("KVIK_ACT '{}' is not int8 or f32", name));
}

// The file's own, else the one of kvik's that fits the vocabulary. A template that does not compile
// is no reason not to open: raw prompts need none.
static void find_template(std::optional<std::string> source, EngineParts& parts) {
    if (!parts.tokenizer) return;
    if (!source) {
        const BuiltinChatTemplate* builtin =
            choose_builtin_template(parts.model->spec().architecture, *parts.tokenizer);
        if (builtin == nullptr) return;
        source = std::string(builtin->source);
        parts.builtin_template = std::string(builtin->name);
    }
    Result<ChatTemplate> compiled = ChatTemplate::compile(std::move(*source));
    if (compiled) {
        parts.chat_template = std::make_unique<ChatTemplate>(std::move(*compiled));
    } else {
        parts.template_error = std::move(compiled).error();
    }
}

Result<std::unique_ptr<Engine>> Engine::open(EngineOptions options) {
    const double started_ms = steady_now_ms();
    KVIK_TRY_VOID(check_options(options));
    KVIK_TRY(const Act act, act_named(options.act.value_or(std::string(kDefaultAct))));
    KVIK_TRY(const KernelTable* kernels, select_kernels(options.isa));
    EngineParts parts;
    parts.isa = kernels->name;
    KVIK_TRY(parts.pool,
             ThreadPool::create(options.n_threads > 0 ? options.n_threads : usable_cores(),
                                Sharing::make_room));
    KVIK_TRY(LoadedModel loaded, load_model({.path = options.model_path,
                                             .kernels = kernels,
                                             .act = act,
                                             .pool = parts.pool.get(),
                                             .progress = options.progress}));
    parts.model = std::move(loaded.model);
    if (loaded.words.tokenizer) {
        KVIK_TRY(parts.tokenizer, make_tokenizer(std::move(*loaded.words.tokenizer)));
    }
    find_template(std::move(loaded.words.chat_template), parts);
    KVIK_TRY(std::unique_ptr<Impl> impl, Impl::open(std::move(parts), options));
    impl->parts.load_ms = steady_now_ms() - started_ms;
    return std::unique_ptr<Engine>(new Engine(std::move(impl)));
}

}  // namespace kvik
