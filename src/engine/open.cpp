// Engine::open: from a path to an engine that runs.
#include <fmt/format.h>

#include "engine/chat_prompt.h"
#include "engine/engine_impl.h"
#include "kernels/select.h"
#include "model/chat_templates.h"
#include "model/load.h"

namespace kvik {

static Result<Act> act_named(const std::string& name) {
    if (name == "int8") return Act::int8;
    if (name == "f32") return Act::f32;
    return fail(ErrorKind::usage, fmt::format("KVIK_ACT '{}' is not int8 or f32", name));
}

// A template that is not there or does not compile is no reason not to open, unless it was asked
// for: raw prompts need none.
static Result<void> find_template(const ModelWords& words, const std::string& asked,
                                  EngineParts& parts) {
    if (!parts.tokenizer) return {};
    Result<ChosenTemplate> chosen = choose_template(
        words.chat_templates, parts.model->spec().architecture, *parts.tokenizer, {.asked = asked});
    if (!chosen && !asked.empty()) return tl::unexpected<Error>(std::move(chosen).error());
    if (!chosen) {
        parts.template_error = std::move(chosen).error();
        parts.template_origin = TemplateOrigin::model;
        return {};
    }
    parts.template_origin = chosen->origin;
    parts.template_name = std::move(chosen->name);
    if (chosen->origin == TemplateOrigin::none) return {};
    Result<ChatTemplate> compiled = ChatTemplate::compile(std::move(chosen->source));
    if (compiled)
        parts.chat_template = std::make_unique<ChatTemplate>(std::move(*compiled));
    else
        parts.template_error = std::move(compiled).error();
    return {};
}

// A tokenizer that this version cannot use blocks text alone: ids need none.
static Result<void> take_words(ModelWords& words, EngineParts& parts) {
    parts.ends = std::move(words.ends);
    Result<std::unique_ptr<Tokenizer>> tokenizer = take_tokenizer(words);
    if (tokenizer)
        parts.tokenizer = std::move(*tokenizer);
    else if (tokenizer.error().kind == ErrorKind::unsupported)
        parts.no_tokenizer = std::move(tokenizer).error();
    else
        return tl::unexpected<Error>(std::move(tokenizer).error());
    return {};
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
    parts.notes = std::move(loaded.notes);
    KVIK_TRY_VOID(take_words(loaded.words, parts));
    KVIK_TRY_VOID(find_template(loaded.words, options.chat_template, parts));
    KVIK_TRY(std::unique_ptr<Impl> impl, Impl::open(std::move(parts), options));
    impl->parts.load_ms = steady_now_ms() - started_ms;
    return std::unique_ptr<Engine>(new Engine(std::move(impl)));
}

}  // namespace kvik
