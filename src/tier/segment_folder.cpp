#include "tier/segment_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <tuple>

namespace kvik {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

bool is_segment_name(std::string_view name) {
    return name.starts_with("kv-") && name.ends_with(".seg");
}

Result<void> SegmentFolder::prepare() const {
    std::error_code ignored;  // mkdir reports what is wrong
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
    if (::mkdir(path_.c_str(), 0700) == 0 || errno == EEXIST) {
        struct stat status {};
        if (::stat(path_.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return {};
        return fail(ErrorKind::file, fmt::format("{} is no folder: name one to keep KV in", path_));
    }
    return fail(ErrorKind::file, fmt::format("cannot make the folder {} to keep KV in: {}", path_,
                                             std::strerror(errno)));
}

std::vector<FoundSegment> SegmentFolder::list() const {
    std::vector<FoundSegment> found;
    const std::unique_ptr<DIR, CloseFolder> folder(::opendir(path_.c_str()));
    if (!folder) return found;
    while (const dirent* entry = ::readdir(folder.get())) {
        struct stat status {};
        if (!is_segment_name(entry->d_name) ||
            ::fstatat(::dirfd(folder.get()), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        found.push_back(
            {.name = entry->d_name,
             .n_bytes = static_cast<uint64_t>(status.st_size),
             .last_use_ns = status.st_mtim.tv_sec * kNsPerSecond + status.st_mtim.tv_nsec});
    }
    std::ranges::sort(found, {}, [](const FoundSegment& segment) {
        return std::tie(segment.last_use_ns, segment.name);
    });
    return found;
}

void SegmentFolder::count() {
    n_bytes_ = 0;
    for (const FoundSegment& segment : list()) n_bytes_ += segment.n_bytes;
}

bool SegmentFolder::make_room(uint64_t n_bytes, uint64_t quota_bytes,
                              const std::function<void(const std::string&)>& deleted) {
    if (n_bytes_ + n_bytes <= quota_bytes) return true;
    const std::vector<FoundSegment> segments = list();
    n_bytes_ = 0;
    for (const FoundSegment& segment : segments) n_bytes_ += segment.n_bytes;
    for (const FoundSegment& segment : segments) {
        if (n_bytes_ + n_bytes <= quota_bytes) return true;
        if (!remove(segment.name)) continue;
        n_bytes_ -= segment.n_bytes;
        deleted(segment.name);
    }
    return n_bytes_ + n_bytes <= quota_bytes;
}

bool SegmentFolder::remove(const std::string& name) const {
    auto file = files_.open(path_of(name), FileAccess::read);
    return file && file->try_lock() && ::unlink(path_of(name).c_str()) == 0;
}

}  // namespace kvik
