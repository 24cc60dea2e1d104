#include "cli/repl/autosave.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <vector>

#include "base/digest.h"
#include "cli/repl/atomic_file.h"

namespace kvik::cli {
namespace {

namespace fs = std::filesystem;

// The name of the file as far as it is plain, and a digest of where it is.
std::string key_of(const std::string& model_path, const std::string& its_name) {
    constexpr size_t kMostLetters = 60, kDigits = 12;
    std::error_code error;
    fs::path whole = fs::weakly_canonical(model_path, error);
    if (error) whole = model_path;
    std::string name =
        (its_name.empty() ? whole.filename().string() : its_name).substr(0, kMostLetters);
    std::replace_if(
        name.begin(), name.end(),
        [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_'; },
        '_');
    const std::string text = whole.string();
    Sha256 digest;
    digest.update(std::as_bytes(std::span(text)));
    return fmt::format("{}-{}-", name, digest.hex().substr(0, kDigits));
}

}  // namespace

Autosave::Autosave(std::string folder, const std::string& model_path, const std::string& name)
    : folder_(std::move(folder)), key_(key_of(model_path, name)) {}

void Autosave::drop() {
    if (!path_.empty()) ::unlink(path_.c_str());
    path_.clear();
    last_.clear();
}

std::vector<std::string> Autosave::all_by_time() const {
    std::vector<std::pair<fs::file_time_type, std::string>> found;
    std::error_code error;
    for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        if (!name.starts_with(key_) || !name.ends_with(".json")) continue;
        std::error_code gone;
        const auto time = fs::last_write_time(it->path(), gone);
        if (!gone) found.emplace_back(time, it->path().string());
    }
    std::sort(found.rbegin(), found.rend());
    std::vector<std::string> paths;
    for (auto& [time, path] : found) paths.push_back(std::move(path));
    return paths;
}

std::optional<std::string> Autosave::latest() const {
    const auto all = all_by_time();
    return all.empty() ? std::nullopt : std::optional(all.front());
}

void Autosave::drop_oldest() const {
    const auto all = all_by_time();
    for (size_t i = kMostKeptChats; i < all.size(); ++i) ::unlink(all[i].c_str());
}

Result<void> Autosave::save(std::string_view json) {
    if (json == last_ && !path_.empty()) return {};
    const bool is_new = path_.empty();
    if (is_new) {
        make_private_folders(folder_ + "/");
        const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
        std::tm local{};
        ::localtime_r(&now, &local);
        std::error_code gone;
        do {
            path_ = fmt::format("{}/{}{:%Y%m%d-%H%M%S}-{}-{}.json", folder_, key_, local,
                                ::getpid(), ++n_begun_);
        } while (fs::exists(path_, gone));
    }
    if (auto written = replace_file(path_, json); !written) {
        if (is_new) path_.clear();
        return written;
    }
    last_ = json;
    if (is_new) drop_oldest();
    return {};
}

}  // namespace kvik::cli
