#include "hub/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

namespace kvik::hub {
namespace {

struct Found {
    std::vector<std::string> files, folders;
};

// What is in a folder, by name. `n_left` bounds all folders of one walk together.
Result<Found> look_into(const std::string& folder, uint32_t& n_left) {
    Found found;
    std::error_code error;
    std::filesystem::directory_iterator at(folder, error);
    if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory)
        return found;
    for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
        if (n_left == 0)
            return fail(ErrorKind::file,
                        fmt::format("{}: has more than {} files: name a model by its path", folder,
                                    kMostEntries));
        --n_left;
        std::string name = at->path().filename().string();
        if (name.starts_with('.')) continue;
        std::error_code unknown;
        const auto status = at->status(unknown);
        if (std::filesystem::is_regular_file(status))
            found.files.push_back(std::move(name));
        else if (std::filesystem::is_directory(status))
            found.folders.push_back(std::move(name));
    }
    if (error)
        return fail(ErrorKind::file, fmt::format("cannot read {}: {}", folder, error.message()));
    std::sort(found.files.begin(), found.files.end());
    std::sort(found.folders.begin(), found.folders.end());
    return found;
}

Result<void> walk(const std::string& folder, const std::string& before, uint32_t depth,
                  uint32_t& n_left, const std::function<void(const std::string&)>& see) {
    KVIK_TRY(const Found found, look_into(folder, n_left));
    for (const std::string& name : found.files) see(before + name);
    if (depth == 0) return {};
    for (const std::string& name : found.folders)
        KVIK_TRY_VOID(walk(folder + "/" + name, before + name + "/", depth - 1, n_left, see));
    return {};
}

}  // namespace

std::optional<FileFacts> facts_of(const std::string& path) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    return FileFacts{static_cast<uint64_t>(status.st_size), status.st_mtim.tv_sec};
}

bool is_folder(const std::string& path) {
    struct stat status = {};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Result<std::string> read_small_file(const std::string& path, size_t most_bytes) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const auto refuse = [&](std::string_view what) {
        if (fd >= 0) ::close(fd);
        return fail(ErrorKind::file, fmt::format("{}: {}", path, what));
    };
    struct stat status = {};
    if (fd < 0 || ::fstat(fd, &status) != 0) return refuse(std::strerror(errno));
    if (!S_ISREG(status.st_mode)) return refuse("is no regular file");
    if (static_cast<uint64_t>(status.st_size) > most_bytes)
        return refuse(fmt::format("has {} bytes, the most is {}", status.st_size, most_bytes));
    std::string bytes(static_cast<size_t>(status.st_size), '\0');
    size_t n_read = 0;
    while (n_read < bytes.size()) {
        const ssize_t n = ::read(fd, bytes.data() + n_read, bytes.size() - n_read);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return refuse(std::strerror(errno));
        if (n == 0) break;
        n_read += static_cast<size_t>(n);
    }
    ::close(fd);
    bytes.resize(n_read);
    return bytes;
}

Result<void> walk_files(const std::string& folder, uint32_t depth,
                        const std::function<void(const std::string& relative)>& see) {
    uint32_t n_left = kMostEntries;
    return walk(folder, "", depth, n_left, see);
}

Result<std::vector<std::string>> folders_in(const std::string& folder) {
    uint32_t n_left = kMostEntries;
    KVIK_TRY(Found found, look_into(folder, n_left));
    return std::move(found.folders);
}

}  // namespace kvik::hub
