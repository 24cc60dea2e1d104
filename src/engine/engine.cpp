#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <system_error>
#include <utility>

#include "base/thread_signals.h"
#include "engine/chat_prompt.h"
#include "engine/engine_impl.h"
#include "engine/request_check.h"

namespace kvik {

#ifdef NDEBUG
static constexpr bool kIsDevBuild = false;
#else
static constexpr bool kIsDevBuild = true;
#endif

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
    impl->used = {.isa = impl->parts.isa,
                  .act = options.act.value_or(std::string(kDefaultAct)),
                  .kv = std::string(kv_type_name(options.kv_type)),
                  .ubatch = settings.ubatch,
                  .n_threads = impl->parts.pool->n_threads(),
                  .context = settings.context,
                  .builtin_template = impl->parts.template_origin == TemplateOrigin::builtin
                                          ? impl->parts.template_name
                                          : std::string(),
                  .template_source = std::string(template_origin_name(impl->parts.template_origin)),
                  .template_name = impl->parts.template_name,
                  .notes = impl->parts.notes};
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
    try {
        impl->thread = std::thread([engine = impl.get()] { engine->run(); });
    } catch (const std::system_error& error) {
        return fail(ErrorKind::memory, fmt::format("cannot start the engine's thread: {}: raise "
                                                   "the limit on processes",
                                                   error.what()));
    }
    return impl;
}

static constexpr std::chrono::milliseconds kDiskPause(2);

void Engine::Impl::run() {
    leave_signals_to_main();
    while (!queue.closed()) {
        if (!step_loop->step()) {
            if (step_loop->poll_disk()) {
                queue.wait_for(kDiskPause);
                continue;
            }
            calibrate_when_idle();
            queue.wait();
        }
        if (kIsDevBuild) step_loop->check_invariants();
    }
    step_loop->end_all();
}

Engine::Impl::~Impl() {
    queue.close();
    if (thread.joinable()) thread.join();
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::over(std::unique_ptr<Model> model, EngineOptions options) {
    return over(std::move(model), {}, std::move(options));
}

Result<std::unique_ptr<Engine>> Engine::over(std::unique_ptr<Model> model, ModelText text,
                                             EngineOptions options) {
    EngineParts parts;
    KVIK_TRY(parts.pool, ThreadPool::create(std::max(1u, options.n_threads), Sharing::make_room));
    parts.model = std::move(model);
    parts.tokenizer = std::move(text.tokenizer);
    parts.chat_template = std::move(text.chat_template);
    parts.isa = options.isa.value_or("");
    KVIK_TRY(std::unique_ptr<Impl> impl, Impl::open(std::move(parts), options));
    return std::unique_ptr<Engine>(new Engine(std::move(impl)));
}

const ModelSpec& Engine::model() const {
    return impl_->parts.model->spec();
}

const Tokenizer* Engine::tokenizer() const {
    return impl_->parts.tokenizer.get();
}

Error Engine::no_tokenizer() const {
    if (impl_->parts.no_tokenizer) return *impl_->parts.no_tokenizer;
    return {ErrorKind::unsupported,
            "the model has no tokenizer: it takes token ids only (run --ids)"};
}

const ChatTemplate* Engine::chat_template() const {
    return impl_->parts.chat_template.get();
}

const UsedSettings& Engine::used() const {
    return impl_->used;
}

double Engine::load_ms() const {
    return impl_->parts.load_ms;
}

CacheStats Engine::cache_stats() const {
    return impl_->step_loop->cache_stats();
}

std::optional<StepCosts> Engine::step_costs() const {
    const std::lock_guard lock(impl_->costs_mutex);
    return impl_->costs;
}

Result<void> Engine::check(const GenerateRequest& request) const {
    return check_request(request, impl_->settings, model(), tokenizer());
}

static tl::unexpected<Error> busy(const RequestQueue& queue) {
    return fail(ErrorKind::failed,
                fmt::format("{} requests wait already, no more are taken: try again later",
                            queue.capacity()));
}

// What is said to a prompt that encode_chat gave goes into the ledger.
Result<Stream> Engine::submit(GenerateRequest request) {
    auto state = std::make_shared<Stream::State>();
    if (impl_->ledger) {
        if (auto prompt = impl_->ledger->find_prompt(request.prompt))
            state->keep_transcript(*impl_->ledger, std::move(prompt));
    }
    return submit(std::move(request), std::move(state));
}

Result<KvTree> Engine::cache_tree(uint32_t most_lines) const {
    auto drawn = std::make_shared<std::promise<KvTree>>();
    std::future<KvTree> tree = drawn->get_future();
    const auto pushed = impl_->queue.post([drawn, most_lines](StepLoop& step_loop) {
        drawn->set_value(step_loop.cache().draw(most_lines));
    });
    if (pushed != RequestQueue::Pushed::in) return busy(impl_->queue);
    drawn.reset();  // a task that is dropped breaks the promise
    try {
        return tree.get();
    } catch (const std::future_error&) {
        return fail(ErrorKind::failed, "the engine is closing");
    }
}

Result<void> Engine::finish_disk() {
    if (impl_->settings.cache_folder.empty()) return {};
    auto done = std::make_shared<std::promise<DiskStats>>();
    std::future<DiskStats> stats = done->get_future();
    const auto pushed = impl_->queue.post([done](StepLoop& step_loop) {
        step_loop.cache().finish_disk();
        done->set_value(step_loop.cache().disk_stats());
    });
    if (pushed != RequestQueue::Pushed::in) return busy(impl_->queue);
    done.reset();
    try {
        const DiskStats result = stats.get();
        if (result.n_failed_saves == 0) return {};
        return fail(ErrorKind::file,
                    fmt::format("KV could not be kept in {}: {}", impl_->settings.cache_folder,
                                std::strerror(result.last_error)));
    } catch (const std::future_error&) {
        return fail(ErrorKind::failed, "the engine is closing");
    }
}

Result<void> Engine::forget(std::vector<TokenId> tokens, uint32_t from, ForgetKind kind,
                            std::string cache_salt) {
    const auto pushed = impl_->queue.post([tokens = std::move(tokens), from, kind,
                                           salt = std::move(cache_salt)](StepLoop& step_loop) {
        KvCache& cache = step_loop.cache();
        cache.forget(namespace_within(cache.ns(), {.adapter = {}, .salt = salt}), tokens, from,
                     kind);
    });
    if (pushed != RequestQueue::Pushed::in) return busy(impl_->queue);
    return {};
}

Result<Stream> Engine::submit(GenerateRequest request, std::shared_ptr<Stream::State> state,
                              std::shared_ptr<SequenceGroup> sequence_group) {
    KVIK_TRY_VOID(check(request));
    if (!request.sampling.seed) request.sampling.seed = draw_seed();
    const RequestQueue::Pushed pushed =
        impl_->queue.push({.request = std::move(request),
                           .channel = state,
                           .submitted_ms = steady_now_ms(),
                           .sequence_group = std::move(sequence_group)});
    if (pushed != RequestQueue::Pushed::in) return busy(impl_->queue);
    return Stream(std::move(state));
}

Result<std::vector<TokenId>> Engine::encode_chat(const std::vector<ChatMessage>& messages) const {
    KVIK_TRY(const MarkedText text, render(messages));
    return ids_of(*impl_->ledger->encode(text, nullptr).point);
}

// What a template refuses is named with the file that brought it.
static tl::unexpected<Error> of_template(Error error, const std::string& model_path) {
    error.message = fmt::format("{}{}{} (run --raw does without a template)", model_path,
                                model_path.empty() ? "" : ": ", error.message);
    return tl::unexpected(std::move(error));
}

Result<MarkedText> Engine::render(const std::vector<ChatMessage>& messages) const {
    if (!tokenizer()) return tl::unexpected<Error>(no_tokenizer());
    if (impl_->parts.template_error) {
        return of_template(*impl_->parts.template_error, impl_->model_path);
    }
    if (!chat_template()) {
        return fail(ErrorKind::unsupported,
                    "the model has no chat template: give it a raw prompt (--raw)");
    }
    TemplateInputs inputs = template_inputs(*tokenizer(), messages);
    inputs.now = impl_->now;
    Result<MarkedText> text = chat_template()->render(inputs);
    if (!text) return of_template(std::move(text).error(), impl_->model_path);
    return text;
}

}  // namespace kvik
