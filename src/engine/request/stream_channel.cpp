#include "engine/request/stream_channel.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "engine/ledger/token_ledger.h"
#include "kvik/kvik.h"

namespace kvik {

StreamChannel::StreamChannel() {
    events_.reserve(64);
}

void StreamChannel::keep_transcript(TokenLedger& ledger,
                                    std::shared_ptr<const LedgerPoint> prompt) {
    ledger_ = &ledger;
    transcript_.emplace().point = std::move(prompt);
}

void StreamChannel::deliver(TokenEvent event) {
    const std::lock_guard lock(mutex_);
    KVIK_CHECK(!ended_, "nothing is delivered after the end");
    if (transcript_) {
        transcript_->ids.push_back(event.id);
        transcript_->text += event.text;
    }
    if (n_read_ == events_.size()) {
        events_.clear();
        n_read_ = 0;
    }
    events_.push_back(std::move(event));
    arrived_.notify_all();
}

void StreamChannel::end(Summary summary, std::string tail) {
    const std::lock_guard lock(mutex_);
    KVIK_CHECK(!ended_, "a stream ends once");
    if (transcript_) {
        transcript_->text += tail;
        transcript_->point =
            ledger_->add_answer(transcript_->point, transcript_->ids, transcript_->text);
    }
    summary_ = std::move(summary);
    tail_ = std::move(tail);
    ended_ = true;
    arrived_.notify_all();
}

void StreamChannel::end_with(Error error) {
    const std::lock_guard lock(mutex_);
    KVIK_CHECK(!ended_, "a stream ends once");
    error_ = std::move(error);
    ended_ = true;
    arrived_.notify_all();
}

void StreamChannel::note_progress(const PromptProgress& progress) {
    n_prompt_.store(progress.n_tokens, std::memory_order_relaxed);
    n_cached_.store(progress.n_cached, std::memory_order_relaxed);
    n_done_.store(progress.n_done, std::memory_order_relaxed);
}

PromptProgress StreamChannel::progress() const {
    return {.n_tokens = n_prompt_.load(std::memory_order_relaxed),
            .n_cached = n_cached_.load(std::memory_order_relaxed),
            .n_done = n_done_.load(std::memory_order_relaxed)};
}

Result<std::optional<TokenEvent>> StreamChannel::next(std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    const auto something = [&] { return ended_ || n_read_ < events_.size(); };
    timed_out_ = !arrived_.wait_for(lock, wait, something);
    if (timed_out_) {
        return fail(ErrorKind::failed, fmt::format("no token within {} ms", wait.count()));
    }
    if (n_read_ < events_.size()) return std::optional(std::move(events_[n_read_++]));
    if (error_) return tl::unexpected<Error>(*error_);
    return std::optional<TokenEvent>();
}

std::optional<Transcript> StreamChannel::transcript() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return ended_; });
    if (error_) return std::nullopt;
    return transcript_;
}

// ---- Stream ----

std::string_view finish_reason_name(FinishReason reason) {
    switch (reason) {
        case FinishReason::stop:
            return "stop";
        case FinishReason::length:
            return "length";
        case FinishReason::cancelled:
            return "cancelled";
    }
    return "";
}

Stream::Stream(std::shared_ptr<State> state) : state_(std::move(state)) {}

Stream::Stream(Stream&&) noexcept = default;

Stream& Stream::operator=(Stream&& other) noexcept {
    if (this != &other) {
        if (state_) state_->cancel();
        state_ = std::move(other.state_);
    }
    return *this;
}

Stream::~Stream() {
    if (state_) state_->cancel();
}

Result<std::optional<TokenEvent>> Stream::next(std::chrono::milliseconds wait) {
    return state_->next(wait);
}

bool Stream::timed_out() const {
    return state_->timed_out();
}

PromptProgress Stream::progress() const {
    return state_->progress();
}

void Stream::cancel() {
    state_->cancel();
}

const Summary& Stream::summary() const {
    return state_->summary();
}

const std::string& Stream::tail() const {
    return state_->tail();
}

}  // namespace kvik
