// The chat templates kvik carries itself, for models whose file has none.
//
// Shape   a row: its name, the tokens that it cannot do without, the architectures it is meant for,
//         the template.
// Add one a row of the table, before those that need fewer of its tokens.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace kvik {

struct BuiltinChatTemplate {
    std::string_view name;  // "chatml", "gemma", "llama3", ...
    std::string_view source;
};

// The one whose tokens the vocabulary has, those meant for the architecture first; null: none fits,
// and a prompt goes without.
const BuiltinChatTemplate* choose_builtin_template(std::string_view architecture,
                                                   const Tokenizer& tokenizer);
std::vector<std::string_view> builtin_template_names();
// Null when there is none of that name.
const BuiltinChatTemplate* find_builtin_template(std::string_view name);

}  // namespace kvik
