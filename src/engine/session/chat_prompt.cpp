#include "engine/session/chat_prompt.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kvik {

static std::string spelling(const Tokenizer& tokenizer, std::optional<TokenId> id) {
    return id ? std::string(tokenizer.piece(*id)) : std::string();
}

TemplateInputs template_inputs(const Tokenizer& tokenizer, std::vector<ChatMessage> messages) {
    TemplateInputs inputs;
    inputs.messages = std::move(messages);
    inputs.bos_token = spelling(tokenizer, tokenizer.bos());
    inputs.eos_token = spelling(tokenizer, tokenizer.eos());
    return inputs;
}

std::vector<TokenId> encode_prompt(const Tokenizer& tokenizer, const MarkedText& text) {
    std::vector<TokenId> ids = tokenizer.encode(text);
    const std::optional<TokenId> bos = tokenizer.bos();
    if (tokenizer.adds_bos() && bos && (ids.empty() || ids.front() != *bos)) {
        ids.insert(ids.begin(), *bos);
    }
    return ids;
}

MarkedText text_from(const MarkedText& text, size_t begin) {
    MarkedText rest{.text = text.text.substr(begin), .untrusted = {}};
    for (const ByteRange& range : text.untrusted) {
        if (range.end <= begin) continue;
        rest.untrusted.push_back({std::max(range.begin, begin) - begin, range.end - begin});
    }
    return rest;
}

// Renders one exchange and looks at what stands after its answer.
std::optional<TokenId> find_turn_end(const Tokenizer& tokenizer,
                                     const ChatTemplate& chat_template) {
    TemplateInputs inputs =
        template_inputs(tokenizer, {{"user", "question"}, {"assistant", "answer"}});
    inputs.add_generation_prompt = false;
    inputs.now = std::chrono::local_seconds{};  // any time: only what stands after it is looked at
    const Result<MarkedText> text = chat_template.render(inputs);
    if (!text || text->untrusted.empty()) return std::nullopt;
    const std::vector<TokenId> after =
        tokenizer.encode(text_from(*text, text->untrusted.back().end));
    if (after.empty() || !tokenizer.is_control(after.front())) return std::nullopt;
    return after.front();
}

std::vector<TokenId> find_end_tokens(const Tokenizer* tokenizer, const ChatTemplate* chat_template,
                                     std::span<const TokenId> named) {
    std::vector<TokenId> ids;
    const auto add = [&](std::optional<TokenId> id) {
        if (id && std::find(ids.begin(), ids.end(), *id) == ids.end()) ids.push_back(*id);
    };
    if (tokenizer) {
        add(tokenizer->eos());
        add(tokenizer->eot());
        for (const TokenId id : tokenizer->ends()) add(id);
    }
    for (const TokenId id : named) add(id);
    if (tokenizer && chat_template) add(find_turn_end(*tokenizer, *chat_template));
    return ids;
}

}  // namespace kvik
