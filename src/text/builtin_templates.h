// The chat templates kvik carries itself, for models whose file has none.
//
// Add one   a row of the table: the architecture's name and the template.
#pragma once

#include <string_view>

namespace kvik {

// By architecture ("gemma3"); ChatML when there is no row for it.
std::string_view builtin_chat_template(std::string_view architecture);

}  // namespace kvik
