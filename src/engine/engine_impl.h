// EngineParts and Engine::Impl: what an engine owns, in the order in which it must live, and the
// engine thread.
//
// Use     open(); the public face (engine.cpp) pushes requests into the queue and reads the rest.
// Owner   everything below; destroying it cancels what is under way and joins the thread.
// Threads one engine thread runs the step loop and sleeps in the queue when there is nothing to do.
//         All members but queue, step_loop and costs are constant after open().
// Cost    open allocates all KV memory and the memory of steps; load_parts says what it costs.
// Errors  open: options out of range, a budget that is too small, no memory, no thread.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_pool.h"
#include "engine/costs/cost_learner.h"
#include "engine/engine_settings.h"
#include "engine/ledger/token_ledger.h"
#include "engine/loop/step_loop.h"
#include "engine/request/request_queue.h"
#include "kvik/kvik.h"
#include "model/chat_templates.h"

namespace kvik {

// A model with its words, its threads and what is known of its files: all that an engine needs
// beside its settings.
struct EngineParts {
    std::unique_ptr<ThreadPool> pool;
    std::unique_ptr<Model> model;
    std::unique_ptr<Tokenizer> tokenizer;         // null: no text
    std::optional<Error> no_tokenizer;            // why a tokenizer that is there is not used
    std::vector<TokenId> ends;                    // end tokens that the model names itself
    std::unique_ptr<ChatTemplate> chat_template;  // null: none
    TemplateOrigin template_origin = TemplateOrigin::none;
    std::string template_name;
    std::optional<Error> template_error;  // why a template that is there is not used
    std::string isa;
    std::vector<std::string> notes;  // of the model's files
};

// Loads the files that the options name, on the calling thread; repacking the weights of a large
// model takes seconds. A tokenizer or a template that cannot be used is no error unless the options
// name it.
Result<EngineParts> load_parts(const EngineOptions& options);

// Milliseconds of a clock that never goes back.
double steady_now_ms();

struct Engine::Impl {
    static Result<std::unique_ptr<Impl>> open(EngineParts parts, const EngineOptions& options);
    ~Impl();

    EngineParts parts;
    EngineSettings settings;
    UsedSettings used;
    std::string model_path;  // empty: not from a file
    std::optional<std::chrono::local_seconds> now;
    std::vector<TokenId> end_tokens;
    double load_ms = 0;
    std::unique_ptr<TokenLedger> ledger;  // null: no text
    RequestQueue queue{kQueueCapacity};
    std::unique_ptr<StepLoop> step_loop;
    std::unique_ptr<CostLearner> costs;
    std::thread thread;

  private:
    Impl(EngineParts its_parts, const EngineSettings& its_settings)
        : parts(std::move(its_parts)), settings(its_settings) {}
    void set_used(const EngineOptions& options);
    void find_costs(const EngineOptions& options);
    void learn_costs_when_idle();
    std::optional<StepCosts> measure_costs(const std::function<bool()>& must_stop);
    Result<void> start_thread();
    void run();
};

}  // namespace kvik
