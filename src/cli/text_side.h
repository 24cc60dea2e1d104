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
    std::optional<std::string> chat_template;  // its source
};

Result<TextSide> open_text_side(const std::string& path);

// [{"role": "user", "content": "..."}, ...]; `what` names it in errors, with the place.
Result<std::vector<ChatMessage>> parse_messages(std::string_view json, std::string_view what);

}  // namespace kvik::cli
