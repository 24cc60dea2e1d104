#include "engine/generate/answer.h"

#include <algorithm>
#include <utility>

namespace kvik {

// ---- StopText ----

// Returns how many bytes at the end of `text` are the beginning of `stop`, but not all of it.
static size_t begun(std::string_view text, std::string_view stop) {
    for (size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n) {
        if (text.ends_with(stop.substr(0, n))) return n;
    }
    return 0;
}

StopText::StopText(std::vector<std::string> stops) : stops_(std::move(stops)) {}

std::string StopText::release(size_t n_bytes) {
    std::string text = held_.substr(0, n_bytes);
    held_.erase(0, n_bytes);
    n_certain_bytes_ += n_bytes;
    return text;
}

std::string StopText::push(std::string_view text) {
    if (hit_) return {};
    if (stops_.empty()) {
        n_certain_bytes_ += text.size();
        return std::string(text);
    }
    held_ += text;
    std::pair<size_t, size_t> first = {SIZE_MAX, SIZE_MAX};  // end and begin of the stop string
    size_t n_begun = 0;
    for (const std::string& stop : stops_) {
        if (const size_t at = held_.find(stop); at != std::string::npos) {
            first = std::min(first, {at + stop.size(), at});
        }
        n_begun = std::max(n_begun, begun(held_, stop));
    }
    if (first.first == SIZE_MAX) return release(held_.size() - n_begun);
    hit_ = true;
    std::string certain = release(first.second);
    held_.clear();
    return certain;
}

std::string StopText::finish() {
    return release(held_.size());
}

// ---- Answer ----

Answer::Answer(const Tokenizer* tokenizer, AnswerLimits limits)
    : end_tokens_(limits.end_tokens),
      stop_text_(std::move(limits.stop)),
      max_tokens_(limits.max_tokens) {
    if (tokenizer) detokenizer_.emplace(*tokenizer);
}

bool Answer::is_end(TokenId token) const {
    return std::find(end_tokens_.begin(), end_tokens_.end(), token) != end_tokens_.end();
}

std::string Answer::take(TokenId token) {
    ++n_tokens_;
    if (!detokenizer_) return {};
    const std::string text = detokenizer_->push(token);
    if (stop_text_.is_watching()) text_begins_.push_back(n_text_bytes_);
    n_text_bytes_ += text.size();
    return stop_text_.push(text);
}

std::string Answer::finish() {
    if (!detokenizer_ || stop_text_.hit()) return {};
    std::string text = stop_text_.push(detokenizer_->finish());
    return text + stop_text_.finish();
}

std::optional<FinishReason> Answer::ended() const {
    if (stop_text_.hit()) return FinishReason::stop;
    if (n_tokens_ >= max_tokens_) return FinishReason::length;
    return std::nullopt;
}

uint32_t Answer::n_kept() const {
    if (!stop_text_.hit()) return n_tokens_;
    const auto cut =
        std::lower_bound(text_begins_.begin(), text_begins_.end(), stop_text_.n_certain_bytes());
    return static_cast<uint32_t>(cut - text_begins_.begin());
}

}  // namespace kvik
