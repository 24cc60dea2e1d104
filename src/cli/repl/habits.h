// Habits: what people type who know Ollama's or llama.cpp's chat, and kvik's word for it.
//
// Source  `ollama run`: /help and /set; `llama-cli`: /help of its conversation mode.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kvik::cli {

// The command that does the same here: /bye is /exit. Others stay.
std::string_view command_here(std::string_view name);

// One line about a command that kvik has not, and what does instead.
std::optional<std::string_view> hint_about_command(std::string_view name);
// The same about what comes after /set: num_ctx, format, ...
std::optional<std::string_view> hint_about_setting(std::string_view name);

}  // namespace kvik::cli
