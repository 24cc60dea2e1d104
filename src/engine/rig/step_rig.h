// StepRig: a Stepper driven by hand, for tests: no thread, a clock that ticks when asked, the books
// checked after every step; and what a stream said, collected.
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
#include "engine/request_check.h"
#include "engine/stepper.h"

namespace kvik {

// What came out of a stream so far.
struct Told {
    std::vector<TokenId> ids;
    std::vector<float> logprobs;
    std::string text;  // tail included
    bool ended = false;
    std::optional<Error> error;
    Summary summary;
};

// Adds what has arrived since.
inline void listen(StreamChannel& channel, Told& told) {
    for (;;) {
        auto event = channel.next(std::chrono::milliseconds(0));
        if (channel.timed_out()) return;
        told.ended = !event || !*event;
        if (!event) told.error = event.error();
        if (event && !*event) {
            told.summary = channel.summary();
            told.text += channel.tail();
        }
        if (told.ended) return;
        told.ids.push_back((*event)->id);
        told.logprobs.push_back((*event)->logprob);
        told.text += (*event)->text;
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
        auto settings = settle(options, model.spec());
        KVIK_CHECK(settings.has_value(), "the rig's options hold");
        settings_ = *settings;
        auto stepper = Stepper::open({.model = model,
                                      .pool = pool_,
                                      .inbox = inbox_,
                                      .now_ms = [this] { return now_ms_ += 1; },
                                      .tokenizer = text.tokenizer,
                                      .end_tokens = text.end_tokens},
                                     settings_);
        KVIK_CHECK(stepper.has_value(), "the rig opens");
        stepper_ = std::move(*stepper);
    }
    ~StepRig() { stepper_->end_all(); }

    std::shared_ptr<StreamChannel> submit(GenerateRequest request) {
        const auto right = check_request(request, settings_, model_.spec(), text_.tokenizer);
        KVIK_CHECK(right.has_value(), "the rig's requests are right");
        auto channel = std::make_shared<StreamChannel>();
        const auto pushed = inbox_.push({std::move(request), channel, now_ms_});
        KVIK_CHECK(pushed == Inbox::Pushed::in, "the rig's inbox has room");
        return channel;
    }
    bool step() {
        const bool more = stepper_->step();
        stepper_->check_invariants();
        return more;
    }
    void run() {
        while (step()) {
        }
    }
    // One request, all of it.
    Told ask(GenerateRequest request) {
        const auto channel = submit(std::move(request));
        run();
        Told told;
        listen(*channel, told);
        return told;
    }
    uint32_t n_used_blocks() const {
        const CacheStats stats = stepper_->cache_stats();
        return stats.n_blocks - stats.n_free;
    }

    Stepper& stepper() { return *stepper_; }
    Inbox& inbox() { return inbox_; }
    const Settings& settings() const { return settings_; }

  private:
    const Model& model_;
    RigText text_;
    ThreadPool pool_{1};
    Inbox inbox_{kInboxCapacity};
    double now_ms_ = 0;
    Settings settings_;
    std::unique_ptr<Stepper> stepper_;
};

}  // namespace kvik
