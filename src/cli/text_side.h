// TextSide: the text side of a model file, tokenizer and chat template, without its weights.
//
// Cost    reads the metadata alone.
// Errors  ErrorKind::file for a damaged file; a file without tokenizer: ErrorKind::unsupported.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace kvik::cli {

struct TextSide {
    std::unique_ptr<Tokenizer> tokenizer;
    std::optional<std::string> chat_template;  // its source: the file's, else the built-in one
};

struct BuiltinTemplate {
    std::string name;  // "chatml", or the architecture that it is for
    std::string source;
};

// What a file without template gets, if its vocabulary has the tokens that this one writes: the
// choice that the engine makes.
std::optional<BuiltinTemplate> builtin_template_for(const Tokenizer& tokenizer,
                                                    const std::string& architecture);

Result<TextSide> open_text_side(const std::string& path);

// [{"role": "user", "content": "..."}, ...]; `what` names it in errors, with the place.
Result<std::vector<ChatMessage>> parse_messages(std::string_view json, std::string_view what);

}  // namespace kvik::cli
