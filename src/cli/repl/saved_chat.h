// SavedChat: a conversation and its settings as a JSON file.
//
// Shape   {"kvik_chat": 1, "model": "", "settings": {"temp": 0.7, ...}, "messages": [{"role":
//         "user", "content": ""}, ...]}. A bare list of messages is read too.
// Errors  ErrorKind::file with the place in the file: what is no such file, a role that is none, a
//         setting that is unknown or out of its range.
// Invariant from_json(to_json(chat)) is the chat; a file from outside can be wrong, never harmful.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/repl/chat_settings.h"

namespace kvik::cli {

inline constexpr size_t kMostChatBytes = 64u << 20;

struct SavedChat {
    std::string model;
    std::vector<ChatMessage> messages;  // system at most first; then user and assistant
    std::optional<ChatSettings> settings;
};

std::string to_json(const SavedChat& chat);
// What the file does not say of the settings is as in `defaults`. `file` is for messages.
Result<SavedChat> from_json(std::string_view json, const std::string& file,
                            const ChatSettings& defaults);

}  // namespace kvik::cli
