// StepRig: a step loop driven by hand, for tests: it has no thread, its clock ticks when it is
// read, and invariants are checked after every step. StreamResult collects what a stream delivered.
//
// Owner   borrows the model.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/thread_pool.h"
#include "engine/loop/step_loop.h"
#include "engine/request/request_check.h"

namespace kvik {

// What came out of a stream so far.
struct StreamResult {
    std::vector<TokenId> ids;
    std::vector<float> logprobs;
    std::string text;  // tail included
    bool ended = false;
    std::optional<Error> error;
    Summary summary;
};

// Adds what has arrived since.
inline void listen(StreamChannel& channel, StreamResult& result) {
    for (;;) {
        auto event = channel.next(std::chrono::milliseconds(0));
        if (channel.timed_out()) return;
        result.ended = !event || !*event;
        if (!event) result.error = event.error();
        if (event && !*event) {
            result.summary = channel.summary();
            result.text += channel.tail();
        }
        if (result.ended) return;
        result.ids.push_back((*event)->id);
        result.logprobs.push_back((*event)->logprob);
        result.text += (*event)->text;
    }
}

struct RigText {
    const Tokenizer* tokenizer = nullptr;
    std::vector<TokenId> end_tokens;
};

class StepRig {
  public:
    StepRig(const Model& model, const EngineOptions& options, const RigText& text = {})
        : model_(model), text_(text) {
        auto settings = resolve_settings(options, model.spec());
        KVIK_CHECK(settings.has_value(), "the rig's options hold");
        settings_ = *settings;
        auto step_loop = StepLoop::open({.model = model,
                                         .pool = pool_,
                                         .queue = queue_,
                                         .now_ms = [this] { return now_ms_ += 1; },
                                         .tokenizer = text.tokenizer,
                                         .end_tokens = text.end_tokens},
                                        settings_);
        KVIK_CHECK(step_loop.has_value(), "the rig opens");
        step_loop_ = std::move(*step_loop);
    }
    ~StepRig() { step_loop_->end_all(); }

    std::shared_ptr<StreamChannel> submit(GenerateRequest request) {
        const auto right = check_request(request, settings_, model_.spec(), text_.tokenizer);
        KVIK_CHECK(right.has_value(), "the rig's requests are right");
        auto channel = std::make_shared<StreamChannel>();
        const auto pushed = queue_.push({std::move(request), channel, now_ms_});
        KVIK_CHECK(pushed == RequestQueue::Pushed::in, "the rig's queue has room");
        return channel;
    }
    bool step() {
        const bool more = step_loop_->step();
        step_loop_->check_invariants();
        return more;
    }
    void run() {
        while (step()) {
        }
    }
    // One request, all of it.
    StreamResult ask(GenerateRequest request) {
        const auto channel = submit(std::move(request));
        run();
        StreamResult result;
        listen(*channel, result);
        return result;
    }
    uint32_t n_used_blocks() const {
        const CacheStats stats = step_loop_->cache_stats();
        return stats.n_blocks - stats.n_free_blocks;
    }

    StepLoop& step_loop() { return *step_loop_; }
    RequestQueue& queue() { return queue_; }
    const EngineSettings& settings() const { return settings_; }

  private:
    const Model& model_;
    RigText text_;
    ThreadPool pool_{1};
    RequestQueue queue_{kQueueCapacity};
    double now_ms_ = 0;
    EngineSettings settings_;
    std::unique_ptr<StepLoop> step_loop_;
};

}  // namespace kvik
