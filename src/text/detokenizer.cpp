#include "text/detokenizer.h"

#include "base/check.h"

namespace kvik {

Detokenizer::Detokenizer(const Tokenizer& tokenizer, Controls controls)
    : tokenizer_(tokenizer), controls_(controls) {}

std::string Detokenizer::push(TokenId id) {
    before_.push_back(stream_);
    std::string certain;
    // A hidden token leaves no trace: the halves of a character around it still join.
    if (controls_ == Controls::shown || !tokenizer_.is_control(id))
        stream_.push(tokenizer_.piece(id), certain);
    return certain;
}

std::string Detokenizer::finish() {
    std::string rest;
    stream_.finish(rest);
    return rest;
}

void Detokenizer::truncate(uint32_t n_tokens) {
    KVIK_CHECK(n_tokens <= before_.size(), "a detokenizer goes back, never forward");
    if (n_tokens == before_.size()) return;
    stream_ = before_[n_tokens];
    before_.resize(n_tokens);
}

}  // namespace kvik
