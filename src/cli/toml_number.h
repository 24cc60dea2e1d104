// toml_number: a number as TOML writes it -> the text that a flag takes.
//
// Shape   underscores and a leading plus go, 0x, 0o and 0b become decimal; a fraction stays one.
// Source  TOML 1.0.0, "Integer" and "Float".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kvik::cli {

std::optional<std::string> toml_number(std::string_view word);  // nothing: it is none

}  // namespace kvik::cli
