#include "engine/engine_impl.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "base/thread_signals.h"
#include "engine/engine_settings.h"
#include "engine/session/chat_prompt.h"
#include "kernels/numerics.h"
#include "kernels/select.h"
#include "model/load.h"

namespace kvik {

// ---- EngineParts ----

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

// ---- Engine::Impl ----

#ifdef NDEBUG
static constexpr bool kIsDevBuild = false;
#else
static constexpr bool kIsDevBuild = true;
#endif

static constexpr std::chrono::milliseconds kDiskPause(2);
static constexpr std::chrono::milliseconds kIdlePause(250);  // before steps are measured

double steady_now_ms() {
    using Ms = std::chrono::duration<double, std::milli>;
    return Ms(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Result<std::unique_ptr<Engine::Impl>> Engine::Impl::open(EngineParts parts,
                                                         const EngineOptions& options) {
    KVIK_TRY(EngineSettings settings, resolve_settings(options, parts.model->spec()));
    std::unique_ptr<Impl> impl(new Impl(std::move(parts), settings));
    impl->end_tokens = find_end_tokens(impl->parts.tokenizer.get(), impl->parts.chat_template.get(),
                                       impl->parts.ends);
    impl->set_used(options);
    impl->model_path = options.model_path;
    impl->now = options.now;
    if (impl->parts.tokenizer) {
        impl->ledger = std::make_unique<TokenLedger>(
            *impl->parts.tokenizer, options.cache == CachePolicy::off ? 0 : options.ledger_bytes);
    }
    KVIK_TRY(impl->step_loop, StepLoop::open({.model = *impl->parts.model,
                                              .pool = *impl->parts.pool,
                                              .queue = impl->queue,
                                              .now_ms = steady_now_ms,
                                              .tokenizer = impl->parts.tokenizer.get(),
                                              .end_tokens = impl->end_tokens},
                                             impl->settings));
    impl->find_costs(options);
    KVIK_TRY_VOID(impl->start_thread());
    return impl;
}

void Engine::Impl::set_used(const EngineOptions& options) {
    const bool is_builtin = parts.template_origin == TemplateOrigin::builtin;
    used = {.isa = parts.isa,
            .act = options.act.value_or(std::string(kDefaultAct)),
            .kv = std::string(kv_type_name(options.kv_type)),
            .ubatch = settings.ubatch,
            .n_threads = parts.pool->n_threads(),
            .context = settings.context,
            .builtin_template = is_builtin ? parts.template_name : std::string(),
            .template_source = std::string(template_origin_name(parts.template_origin)),
            .template_name = parts.template_name,
            .notes = parts.notes};
}

Engine::Impl::~Impl() {
    queue.close();
    if (thread.joinable()) thread.join();
}

// ---- the engine thread ----

Result<void> Engine::Impl::start_thread() {
    try {
        thread = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
        return fail(ErrorKind::memory, fmt::format("cannot start the engine's thread: {}: raise "
                                                   "the limit on processes",
                                                   error.what()));
    }
    return {};
}

void Engine::Impl::run() {
    leave_signals_to_main();
    while (!queue.closed()) {
        if (!step_loop->step()) {
            if (step_loop->poll_disk()) {
                queue.wait_for(kDiskPause);
                continue;
            }
            learn_costs_when_idle();
            queue.wait();
        }
        if (kIsDevBuild) step_loop->check_invariants();
    }
    step_loop->end_all();
}

// ---- what a step costs ----

std::optional<StepCosts> Engine::Impl::measure_costs(const std::function<bool()>& must_stop) {
    return step_loop->measure_costs(must_stop);
}

void Engine::Impl::find_costs(const EngineOptions& options) {
    StepCostsKey key;
    if (options.calibrate != Calibrate::off) {
        key = {.cpu = cpu_model(),
               .isa = used.isa,
               .act = used.act,
               .kv = used.kv,
               .model = parts.model->spec().fingerprint,
               .n_threads = used.n_threads,
               .block_tokens = settings.kv.block_tokens,
               .program = program_id(),
               .numerics = numerics::kRevision};
    }
    costs = std::make_unique<CostLearner>(options.calibrate, options.costs_folder, std::move(key));
    const auto found =
        costs->find([this](const auto& must_stop) { return measure_costs(must_stop); });
    if (found) step_loop->use_costs(*found);
}

// Measures once nobody has asked for anything for kIdlePause. A request that arrives meanwhile
// waits for one measured step at most: measuring is given up, and tried again in the next pause.
void Engine::Impl::learn_costs_when_idle() {
    if (!costs->is_wanted() || queue.wait_for(kIdlePause)) return;
    const auto learnt =
        costs->learn([this](const auto& must_stop) { return measure_costs(must_stop); },
                     [this] { return queue.wait_for(std::chrono::milliseconds(0)); });
    if (learnt) step_loop->use_costs(*learnt);
}

}  // namespace kvik
