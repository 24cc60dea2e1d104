// What was typed at the prompt: a message, or a command and what comes after its name.
//
// Shape   /name rest. Two slashes at the start are one slash of a message.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/repl/message_assembly.h"

namespace kvik::cli {

struct CommandLine {
    std::string name;  // with its slash
    std::string rest;  // without blanks around it
};

// Nothing: a message, which message_of gives.
std::optional<CommandLine> command_of(const Typed& typed);
std::string message_of(const Typed& typed);

std::string_view trimmed(std::string_view text);

// "3 and the rest" -> 3 and "and the rest"; no number in front: nothing and all of it.
struct NumberedText {
    std::optional<uint32_t> number;
    std::string_view text;
};
NumberedText split_number(std::string_view rest);

}  // namespace kvik::cli
