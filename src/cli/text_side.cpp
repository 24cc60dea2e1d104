#include "cli/text_side.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/terminal.h"
#include "model/source.h"
#include "text/builtin_templates.h"

namespace kvik::cli {

Result<TextSide> open_text_side(const std::string& path) {
    KVIK_TRY(ModelWords words, open_words(path));
    if (!words.tokenizer)
        return fail(ErrorKind::unsupported,
                    fmt::format("{} has no tokenizer: only token ids work with it", path));
    TextSide text;
    KVIK_TRY(text.tokenizer, make_tokenizer(std::move(*words.tokenizer)));
    text.chat_template = std::move(words.chat_template);
    if (text.chat_template) return text;
    if (const auto* builtin = choose_builtin_template(words.architecture, *text.tokenizer)) {
        text.chat_template = std::string(builtin->source);
        text.builtin = std::string(builtin->name);
    }
    return text;
}

void tell_builtin(const std::string& name) {
    if (name.empty() || !is_terminal(STDERR_FILENO)) return;
    note_dim(
        fmt::format("the model brings no chat template, maybe it was not made to chat: kvik's "
                    "own, {}, is used",
                    printable(name)));
    note("\n");
}

Result<std::vector<ChatMessage>> parse_messages(std::string_view json, std::string_view what) {
    KVIK_TRY(const Json list, parse_json(json, what));
    if (!list.is_array() || list.empty())
        return fail(ErrorKind::usage,
                    fmt::format("{} is not a JSON list of messages, such as "
                                "[{{\"role\": \"user\", \"content\": \"Hello\"}}]",
                                what));
    std::vector<ChatMessage> messages;
    for (const Json& item : list) {
        const std::string place = fmt::format("{}: [{}]", what, messages.size());
        if (!item.is_object()) return fail(ErrorKind::usage, place + " is not an object");
        ChatMessage message;
        for (const auto& [key, value] : item.items()) {
            const bool is_text = value.is_string();
            const bool is_parts = key == "content" && (value.is_null() || value.is_array());
            if ((key == "role" || key == "content") && !is_text && !is_parts)
                return fail(ErrorKind::usage, fmt::format("{}.{} is not a string", place, key));
            if (key == "role")
                message.role = value;
            else if (key == "content" && is_text)
                message.content = value;
            else
                message.fields.push_back({key, to_line(value)});
        }
        for (const char* key : {"role", "content"})
            if (!item.contains(key))
                return fail(ErrorKind::usage, fmt::format("{} has no {}", place, key));
        messages.push_back(std::move(message));
    }
    return messages;
}

Result<TemplateRequest> parse_template_request(std::string_view json, std::string_view what) {
    KVIK_TRY(const Json value, parse_json(json, what));
    TemplateRequest request;
    if (!value.is_object() || !value.contains("messages")) {
        KVIK_TRY(request.messages, parse_messages(json, what));
        return request;
    }
    for (const auto& [key, field] : value.items()) {
        if (key == "messages") {
            KVIK_TRY(request.messages, parse_messages(to_line(field), what));
        } else {
            request.variables.push_back({key, to_line(field)});
        }
    }
    return request;
}

}  // namespace kvik::cli
