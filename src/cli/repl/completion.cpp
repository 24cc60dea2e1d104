#include "cli/repl/completion.h"

#include <algorithm>
#include <filesystem>

namespace kvik::cli {
namespace {

namespace fs = std::filesystem;

bool is_plain(std::string_view name) {
    return std::none_of(name.begin(), name.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f;
    });
}

}  // namespace

Completion complete_word(std::string_view typed, const std::vector<std::string>& known) {
    Completion completion{.typed = std::string(typed), .words = {}};
    for (const std::string& word : known)
        if (word.starts_with(typed)) completion.words.push_back(word);
    return completion;
}

Completion complete_path(std::string_view typed, const std::string& home) {
    Completion completion{.typed = std::string(typed), .words = {}};
    const size_t slash = typed.rfind('/');
    const std::string above(typed.substr(0, slash == std::string_view::npos ? 0 : slash + 1));
    const std::string_view begun = typed.substr(above.size());
    std::string folder = above.empty() ? "." : above;
    if (folder.starts_with("~/")) folder = home + folder.substr(1);
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        if (!name.starts_with(begun) || (begun.empty() && name.starts_with('.'))) continue;
        if (!is_plain(name)) continue;
        std::error_code unknown;
        completion.words.push_back(above + name + (it->is_directory(unknown) ? "/" : ""));
    }
    std::sort(completion.words.begin(), completion.words.end());
    return completion;
}

std::string common_rest(const Completion& completion) {
    if (completion.words.empty()) return "";
    std::string common = completion.words.front();
    for (const std::string& word : completion.words) {
        const auto differ = std::mismatch(common.begin(), common.end(), word.begin(), word.end());
        common.erase(differ.first, common.end());
    }
    // Not in the middle of a character.
    while (completion.words.size() > 1 && !common.empty() && (common.back() & 0x80) != 0 &&
           common.size() > completion.typed.size())
        common.pop_back();
    if (completion.words.size() == 1 && !common.ends_with('/')) common += ' ';
    return common.substr(std::min(common.size(), completion.typed.size()));
}

}  // namespace kvik::cli
