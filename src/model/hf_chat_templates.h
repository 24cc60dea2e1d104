// The chat templates of a Hugging Face directory.
//
// Order   chat_template.jinja (it is `default`) and additional_chat_templates/NAME.jinja; if there
//         is none of them, tokenizer_config.json's: one text, or a list of names and texts; if
//         there is none either, chat_template.json's.
// Errors  a wrong type, a template without a name or text, more than kMostTemplates, a link that
//         leads nowhere: ErrorKind::file.
// Source  as transformers 5.24 reads them; chat_template.json is what its processors read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/chat_templates.h"

namespace kvik {

Result<std::vector<NamedTemplate>> chat_templates_from_hf(const std::string& directory);

// Of tokenizer_config.json's text; `file` is for messages.
Result<std::vector<NamedTemplate>> chat_templates_from_hf_config(std::string_view json,
                                                                 const std::string& file);

}  // namespace kvik
