#include <fmt/format.h>

#include <cstring>
#include <future>
#include <memory>
#include <utility>

#include "engine/engine_impl.h"
#include "engine/request/request_check.h"
#include "engine/session/chat_prompt.h"

namespace kvik {

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::open(EngineOptions options) {
    const double started_ms = steady_now_ms();
    KVIK_TRY(EngineParts parts, load_parts(options));
    KVIK_TRY(std::unique_ptr<Impl> impl, Impl::open(std::move(parts), options));
    impl->load_ms = steady_now_ms() - started_ms;
    return std::unique_ptr<Engine>(new Engine(std::move(impl)));
}

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
    return impl_->load_ms;
}

CacheStats Engine::cache_stats() const {
    return impl_->step_loop->cache_stats();
}

std::optional<StepCosts> Engine::step_costs() const {
    return impl_->costs->costs();
}

Result<void> Engine::check(const GenerateRequest& request) const {
    return check_request(request, impl_->settings, model(), tokenizer());
}

static tl::unexpected<Error> busy(const RequestQueue& queue) {
    return fail(ErrorKind::failed,
                fmt::format("{} requests wait already, no more are taken: try again later",
                            queue.capacity()));
}

// An answer to a prompt that came from encode_chat is added to the ledger.
Result<Stream> Engine::submit(GenerateRequest request) {
    auto state = std::make_shared<Stream::State>();
    if (impl_->ledger) {
        if (auto prompt = impl_->ledger->find_prompt(request.prompt))
            state->keep_transcript(*impl_->ledger, std::move(prompt));
    }
    return submit(std::move(request), std::move(state));
}

Result<std::vector<Stream>> Engine::submit_samples(GenerateRequest request, uint32_t n_samples) {
    if (n_samples == 0) return fail(ErrorKind::usage, "no samples are asked for: ask for one");
    if (request.beams && n_samples > 1) {
        return fail(ErrorKind::usage,
                    "beams draw nothing, so that all samples would be one: ask for "
                    "samples or for beams");
    }
    if (!request.sampling.seed) request.sampling.seed = draw_seed();
    const auto group = std::make_shared<SequenceGroup>();
    std::vector<Stream> streams;
    for (uint32_t i = 0; i < n_samples; ++i) {
        GenerateRequest one = request;
        *one.sampling.seed += i;
        KVIK_TRY(Stream stream, submit(std::move(one), std::make_shared<Stream::State>(), group));
        streams.push_back(std::move(stream));
    }
    return streams;
}

Result<KvTree> Engine::cache_tree(uint32_t most_lines) const {
    auto drawn = std::make_shared<std::promise<KvTree>>();
    std::future<KvTree> tree = drawn->get_future();
    const auto pushed = impl_->queue.post(
        [drawn, most_lines](KvCache& cache) { drawn->set_value(cache.draw(most_lines)); });
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
    const auto pushed = impl_->queue.post([done](KvCache& cache) {
        cache.finish_disk();
        done->set_value(cache.disk_stats());
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
    const auto pushed = impl_->queue.post(
        [tokens = std::move(tokens), from, kind, salt = std::move(cache_salt)](KvCache& cache) {
            cache.forget(namespace_within(cache.ns(), {.adapter = {}, .salt = salt}), tokens, from,
                         kind);
        });
    if (pushed != RequestQueue::Pushed::in) return busy(impl_->queue);
    return {};
}

Result<Stream> Engine::submit(GenerateRequest request, std::shared_ptr<Stream::State> state,
                              std::shared_ptr<SequenceGroup> group) {
    KVIK_TRY_VOID(check(request));
    if (!request.sampling.seed) request.sampling.seed = draw_seed();
    const RequestQueue::Pushed pushed = impl_->queue.push({.request = std::move(request),
                                                           .channel = state,
                                                           .submitted_ms = steady_now_ms(),
                                                           .group = std::move(group)});
    if (pushed != RequestQueue::Pushed::in) return busy(impl_->queue);
    return Stream(std::move(state));
}

Result<std::vector<TokenId>> Engine::encode_chat(const std::vector<ChatMessage>& messages) const {
    KVIK_TRY(const MarkedText text, render(messages));
    return ids_of(*impl_->ledger->encode(text, nullptr).point);
}

// Adds the model's file to what the template reports.
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
