#include <utility>

#include "engine/chat_prompt.h"
#include "engine/stream_channel.h"
#include "kvik/kvik.h"
#include "text/detokenizer.h"

namespace kvik {

static constexpr std::string_view kSystem = "system";

void Session::set_system(std::string text) {
    settle();
    const bool has_system = !messages_.empty() && messages_.front().role == kSystem;
    if (has_system) messages_.erase(messages_.begin());
    if (!text.empty()) messages_.insert(messages_.begin(), {std::string(kSystem), std::move(text)});
}

void Session::clear() {
    settle();
    const bool has_system = !messages_.empty() && messages_.front().role == kSystem;
    messages_.resize(has_system ? 1 : 0);
    ledger_ = {};
    n_kept_tokens_ = 0;
}

const std::vector<ChatMessage>& Session::messages() {
    settle();
    return messages_;
}

SessionStats Session::stats() {
    settle();
    return {.n_messages = static_cast<uint32_t>(messages_.size()),
            .n_tokens = static_cast<uint32_t>(ledger_.ids.size()),
            .n_kept_tokens = n_kept_tokens_};
}

static std::string text_of(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
    Detokenizer detokenizer(tokenizer, Controls::shown);
    std::string text;
    for (const TokenId id : ids) text += detokenizer.push(id);
    return text + detokenizer.finish();
}

// The answer under way becomes a message. Where its text is not that of its ids (a stop string cut
// it, a control token is in it), the ledger ends before it.
void Session::settle() {
    if (!pending_) return;
    const std::shared_ptr<Stream::State> stream = std::exchange(pending_, nullptr);
    std::optional<Transcript> answer = stream->transcript();
    if (!answer || answer->ids.empty()) {
        messages_.pop_back();
        ledger_ = {};
        return;
    }
    if (text_of(*engine_->tokenizer(), answer->ids) == answer->text) {
        ledger_.ids.insert(ledger_.ids.end(), answer->ids.begin(), answer->ids.end());
        ledger_.text += answer->text;
    }
    messages_.push_back({"assistant", std::move(answer->text)});
}

// Whoever goes on from the ledger tokenises only what comes after it, and only where a control
// token stands at the seam: no token of the whole text could have crossed it.
Result<std::vector<TokenId>> Session::prompt_for(const std::vector<ChatMessage>& messages,
                                                 std::string& text) {
    KVIK_TRY(MarkedText rendered, engine_->render(messages));
    const Tokenizer* tokenizer = engine_->tokenizer();
    n_kept_tokens_ = 0;
    text = rendered.text;
    if (!ledger_.ids.empty() && rendered.text.starts_with(ledger_.text)) {
        const std::vector<TokenId> rest =
            tokenizer->encode(text_from(rendered, ledger_.text.size()));
        if (!rest.empty() && tokenizer->is_control(rest.front())) {
            std::vector<TokenId> ids = ledger_.ids;
            n_kept_tokens_ = static_cast<uint32_t>(ids.size());
            ids.insert(ids.end(), rest.begin(), rest.end());
            return ids;
        }
    }
    return encode_prompt(*tokenizer, rendered);
}

Result<Stream> Session::send(std::string text, GenerateRequest how) {
    if (pending_) pending_->cancel();
    settle();
    std::vector<ChatMessage> messages = messages_;
    messages.push_back({"user", std::move(text)});
    Ledger ledger;
    KVIK_TRY(ledger.ids, prompt_for(messages, ledger.text));
    how.prompt = ledger.ids;
    auto state = std::make_shared<Stream::State>();
    state->keep_transcript();
    KVIK_TRY(Stream stream, engine_->submit(std::move(how), state));
    messages_ = std::move(messages);
    ledger_ = std::move(ledger);
    pending_ = std::move(state);
    return stream;
}

}  // namespace kvik
