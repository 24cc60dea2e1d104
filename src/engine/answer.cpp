#include "engine/answer.h"

#include <algorithm>
#include <utility>

namespace kvik {

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
