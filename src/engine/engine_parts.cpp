#include "engine/engine_parts.h"

#include <fmt/format.h>

#include <utility>

#include "engine/engine_settings.h"
#include "kernels/select.h"
#include "model/load.h"

namespace kvik {

static Result<Act> act_named(const std::string& name) {
    if (name == "int8") return Act::int8;
    if (name == "f32") return Act::f32;
    return fail(ErrorKind::usage, fmt::format("KVIK_ACT '{}' is not int8 or f32", name));
}

// Chooses and compiles the template. One that is missing or does not compile is an error only if it
// was requested: raw prompts need none.
static Result<void> find_template(const ModelWords& words, const std::string& requested,
                                  EngineParts& parts) {
    if (!parts.tokenizer) return {};
    Result<ChosenTemplate> chosen =
        choose_template(words.chat_templates, parts.model->spec().architecture, *parts.tokenizer,
                        {.asked = requested});
    if (!chosen && !requested.empty()) return tl::unexpected<Error>(std::move(chosen).error());
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

// Makes the tokenizer. One that this version cannot use leaves an engine that takes ids only.
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

Result<EngineParts> load_parts(const EngineOptions& options) {
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
    return parts;
}

}  // namespace kvik
