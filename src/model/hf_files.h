// The small files of a Hugging Face directory, which may be there or not.
//
// Errors  a file that cannot be read; a link that leads nowhere is one: its file is lost, not left
//         out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvik {

std::string path_in(const std::string& directory, std::string_view name);
// Nothing: there is no such file.
Result<std::optional<std::string>> open_if_there(const std::string& directory,
                                                 std::string_view name);
std::optional<std::string_view> text_of(const std::optional<std::string>& file);

}  // namespace kvik
