// Engine::Impl: what an engine owns, in the order in which it must live.
//
// Threads one engine thread steps; it sleeps in the queue when there is nothing to do. Destroying
//         the engine cancels what is under way and joins the thread.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_pool.h"
#include "engine/engine_settings.h"
#include "engine/ledger/token_ledger.h"
#include "engine/request_queue.h"
#include "engine/step_costs_key.h"
#include "engine/step_loop.h"
#include "kvik/kvik.h"
#include "model/chat_templates.h"

namespace kvik {

// A model with its words, however it was come by.
struct EngineParts {
    std::unique_ptr<ThreadPool> pool;
    std::unique_ptr<Model> model;
    std::unique_ptr<Tokenizer> tokenizer;         // null: no text
    std::optional<Error> no_tokenizer;            // why one that is there is not used
    std::vector<TokenId> ends;                    // that the model names beside its tokenizer
    std::unique_ptr<ChatTemplate> chat_template;  // null: none
    TemplateOrigin template_origin = TemplateOrigin::none;
    std::string template_name;
    std::optional<Error> template_error;  // why a template that is there is not used
    std::string isa;
    std::vector<std::string> notes;  // of the model's files
    double load_ms = 0;
};

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
    Calibrate calibrate = Calibrate::off;  // off once there is nothing more to learn
    std::string costs_folder;
    StepCostsKey costs_key;
    mutable std::mutex costs_mutex;
    std::optional<StepCosts> costs;
    std::unique_ptr<TokenLedger> ledger;  // null: no text
    RequestQueue queue{kQueueCapacity};
    std::unique_ptr<StepLoop> step_loop;
    std::thread thread;

  private:
    Impl(EngineParts its_parts, const EngineSettings& its_settings)
        : parts(std::move(its_parts)), settings(its_settings) {}
    void run();
    // costs.cpp
    void find_costs(const EngineOptions& options);
    void use_costs(const StepCosts& learnt);
    void calibrate_when_idle();
};

}  // namespace kvik
