#include "lab/prompt_writer.h"

#include <fmt/format.h>

#include <chrono>

#include "engine/session/chat_prompt.h"

namespace kvik::lab {
namespace {

// What stands for an answer while a template is rendered.
std::string mark_of(size_t index) {
    return fmt::format("the-answer-{}-goes-here", index);
}

MarkedText part_of(const MarkedText& text, size_t begin, size_t end) {
    MarkedText part = text_from({text.text.substr(0, end), {}}, begin);
    for (const ByteRange& range : text.untrusted) {
        const size_t from = std::max(range.begin, begin), to = std::min(range.end, end);
        if (from < to) part.untrusted.push_back({from - begin, to - begin});
    }
    return part;
}

}  // namespace

Result<PromptWriter> PromptWriter::open(const Engine& engine, std::string_view system) {
    if (engine.tokenizer() == nullptr) return tl::unexpected<Error>(engine.no_tokenizer());
    PromptWriter writer(engine, system);
    if (writer.is_raw()) return writer;
    const Exchange first[] = {{"question"}};
    const auto text = writer.rendered(first);
    if (!text && text.error().kind == ErrorKind::usage)
        writer.system_role_ = SystemRole::first_words;
    else if (!text)
        return tl::unexpected(text.error());
    return writer;
}

MarkedText PromptWriter::raw(std::span<const Exchange> conversation) const {
    std::string text = system_ + "\n";
    for (size_t i = 0; i < conversation.size(); ++i) {
        text += fmt::format("\nQuestion: {}\nAnswer:", conversation[i].said);
        if (i + 1 < conversation.size()) text += mark_of(i) + "\n";
    }
    return {.text = text, .untrusted = {{0, text.size()}}};
}

Result<MarkedText> PromptWriter::rendered(std::span<const Exchange> conversation) const {
    std::vector<ChatMessage> messages;
    if (system_role_ == SystemRole::own_message) messages.push_back({"system", system_});
    for (size_t i = 0; i < conversation.size(); ++i) {
        const bool leads = i == 0 && system_role_ == SystemRole::first_words;
        messages.push_back(
            {"user", leads ? system_ + "\n\n" + conversation[i].said : conversation[i].said});
        if (i + 1 < conversation.size()) messages.push_back({"assistant", mark_of(i)});
    }
    TemplateInputs inputs = template_inputs(*engine_->tokenizer(), std::move(messages));
    inputs.now = std::chrono::local_seconds{};  // the same day in every run
    return engine_->chat_template()->render(inputs);
}

Result<std::vector<TokenId>> PromptWriter::ids(std::span<const Exchange> conversation) const {
    MarkedText text = raw({});
    if (is_raw()) {
        text = raw(conversation);
    } else {
        KVIK_TRY(text, rendered(conversation));
    }
    const Tokenizer& tokenizer = *engine_->tokenizer();
    std::vector<TokenId> ids;
    size_t begin = 0;
    for (size_t i = 0; i < conversation.size(); ++i) {
        const bool is_last = i + 1 == conversation.size();
        const std::string mark = mark_of(i);
        const size_t end = is_last ? text.text.size() : text.text.find(mark, begin);
        if (end == std::string::npos)
            return fail(ErrorKind::unsupported,
                        "the chat template does not write out earlier answers");
        const MarkedText part = part_of(text, begin, end);
        const auto part_ids = begin == 0 ? encode_prompt(tokenizer, part) : tokenizer.encode(part);
        ids.insert(ids.end(), part_ids.begin(), part_ids.end());
        ids.insert(ids.end(), conversation[i].answer.begin(), conversation[i].answer.end());
        begin = end + (is_last ? 0 : mark.size());
    }
    return ids;
}

}  // namespace kvik::lab
