#include "cli/text_side.h"

#include <fmt/format.h>

#include "cli/json.h"
#include "cli/terminal.h"
#include "model/source.h"

namespace kvik::cli {

Result<TextSide> open_text_side(const std::string& path) {
    KVIK_TRY(ModelWords words, open_words(path));
    TextSide side;
    KVIK_TRY(side.tokenizer, take_tokenizer(words));
    if (side.tokenizer == nullptr)
        return fail(ErrorKind::unsupported,
                    fmt::format("{} has no tokenizer: it takes token ids only (run --ids)", path));
    side.architecture = std::move(words.architecture);
    side.templates = std::move(words.chat_templates);
    return side;
}

Result<ChosenTemplate> template_of(const TextSide& side, const std::string& path,
                                   const TemplateWish& wish) {
    Result<ChosenTemplate> chosen =
        choose_template(side.templates, side.architecture, *side.tokenizer, wish);
    if (!chosen) return fail(chosen.error().kind, path + ": " + chosen.error().message);
    if (chosen->origin == TemplateOrigin::none)
        return fail(ErrorKind::unsupported,
                    path +
                        " has no chat template, and none of kvik's own fits its tokens: give "
                        "one by --template NAME|FILE");
    return chosen;
}

std::string borrowed_template(std::string_view name) {
    return fmt::format(
        "the model has no chat template, it was maybe not made to chat: kvik's own, "
        "{}, is used",
        printable(name));
}

void tell_borrowed(const ChosenTemplate& chosen, const TemplateWish& wish) {
    if (chosen.origin != TemplateOrigin::builtin || !wish.asked.empty()) return;
    note_line("kvik: " + borrowed_template(chosen.name));
}

// `text` is an object. Values other than the role and a content that is text stay as written.
static Result<ChatMessage> parse_message(std::string_view text, const std::string& place) {
    ChatMessage message;
    bool has_role = false, has_content = false;
    for (JsonPart& part : parts_of(text)) {
        const bool is_role = part.name == "role", is_content = part.name == "content";
        const bool is_text = part.text.starts_with('"');
        const bool is_nothing = is_content && part.text == "null";
        const bool is_parts = is_content && part.text.find_first_of("[{") == 0;
        if ((is_role || is_content) && !is_text && !is_nothing && !is_parts)
            return fail(ErrorKind::usage, fmt::format("{}.{} is not a string", place, part.name));
        if (is_role)
            message.role = Json::parse(part.text).get<std::string>();
        else if (is_content && is_text)
            message.content = Json::parse(part.text).get<std::string>();
        else
            message.fields.push_back({std::move(part.name), std::string(part.text)});
        has_role = has_role || is_role;
        has_content = has_content || is_content;
    }
    if (!has_role) return fail(ErrorKind::usage, fmt::format("{} has no role", place));
    // A model that calls tools, or thinks, may say nothing.
    if (!has_content && message.role != "assistant")
        return fail(ErrorKind::usage, fmt::format("{} has no content", place));
    if (!has_content) message.fields.push_back({"content", "null"});
    return message;
}

Result<std::vector<ChatMessage>> parse_messages(std::string_view json, std::string_view what) {
    KVIK_TRY(const Json list, parse_json(json, what));
    if (!list.is_array() || list.empty())
        return fail(ErrorKind::usage,
                    fmt::format("{} is not a JSON list of messages, such as "
                                "[{{\"role\": \"user\", \"content\": \"Hello\"}}]",
                                what));
    std::vector<ChatMessage> messages;
    for (const JsonPart& item : parts_of(json)) {
        const std::string place = fmt::format("{}: [{}]", what, messages.size());
        if (!item.text.starts_with('{')) return fail(ErrorKind::usage, place + " is not an object");
        KVIK_TRY(ChatMessage message, parse_message(item.text, place));
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
    for (JsonPart& field : parts_of(json)) {
        if (field.name == "messages") {
            KVIK_TRY(request.messages, parse_messages(field.text, what));
        } else {
            request.variables.push_back({std::move(field.name), std::string(field.text)});
        }
    }
    return request;
}

}  // namespace kvik::cli
