#include <utility>

#include "engine/stream_channel.h"
#include "kvik/kvik.h"

namespace kvik {

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
