// TextSide: the text side of a model, tokenizer and chat template, without its weights.
//
// Cost    reads headers alone.
// Errors  ErrorKind::file for a damaged file; a model without tokenizer: ErrorKind::unsupported.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/chat_templates.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace kvik::cli {

struct TextSide {
    std::unique_ptr<Tokenizer> tokenizer;
    std::string architecture;
    std::vector<NamedTemplate> templates;  // the model's own
};

Result<TextSide> open_text_side(const std::string& path);

// The template that the engine would choose. Errors: there is none -> unsupported.
Result<ChosenTemplate> template_of(const TextSide& side, const std::string& path,
                                   const TemplateWish& wish);

// Says on stderr that the model has no template and kvik's own is used, if that is so.
void tell_borrowed(const ChosenTemplate& chosen, const TemplateWish& wish);
std::string borrowed_template(std::string_view name);

// [{"role": "user", "content": "..."}, ...]; `what` names it in errors, with the place. Other keys
// are for the template, as they are written, and so is a content that is null, a list or an object.
// An assistant's message may have no content.
Result<std::vector<ChatMessage>> parse_messages(std::string_view json, std::string_view what);

struct TemplateRequest {
    std::vector<ChatMessage> messages;
    std::vector<TemplateField> variables;  // tools, enable_thinking, ...
};

// A list of messages, or an object with "messages" and the template's other variables.
Result<TemplateRequest> parse_template_request(std::string_view json, std::string_view what);

}  // namespace kvik::cli
