#include "model/hf_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/mapped_file.h"
#include "formats/json.h"

namespace kvik {

std::string path_in(const std::string& directory, std::string_view name) {
    return fmt::format("{}{}{}", directory, directory.ends_with('/') ? "" : "/", name);
}

Result<std::optional<std::string>> open_if_there(const std::string& directory,
                                                 std::string_view name) {
    const std::string path = path_in(directory, name);
    std::error_code error;
    if (std::filesystem::symlink_status(path, error).type() ==
        std::filesystem::file_type::not_found)
        return std::nullopt;
    KVIK_TRY(std::string text, read_whole_file(path, kMaxJsonBytes));
    return text;
}

std::optional<std::string_view> text_of(const std::optional<std::string>& file) {
    if (!file) return std::nullopt;
    return std::string_view(*file);
}

}  // namespace kvik
