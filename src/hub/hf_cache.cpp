#include "hub/hf_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "hub/files.h"

namespace kvik::hub {
namespace {

tl::unexpected<Error> unwritten(const std::string& path, int error) {
    const bool is_full = error == ENOSPC || error == EDQUOT;
    const bool is_refused = error == EACCES || error == EPERM || error == EROFS;
    return fail(ErrorKind::file,
                fmt::format("writing {}: {}{}", path, std::strerror(error),
                            is_full      ? ": make room, or set HF_HOME to a folder on another disk"
                            : is_refused ? ": set HF_HOME to a folder that you may write to"
                                         : ""));
}

Result<void> make_folder(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) return unwritten(path, error.value());
    return {};
}

// A name beside `path` that no other process has.
std::string beside(const std::string& path) {
    return fmt::format("{}.{}.tmp", path, ::getpid());
}

Result<void> put_in_place(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) == 0) return {};
    const int error = errno;
    ::unlink(from.c_str());
    return unwritten(to, error);
}

}  // namespace

OpenFile::OpenFile(OpenFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}
OpenFile::~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
}

HfCache::HfCache(std::string cache, std::string folder)
    : root_(cache + "/" + folder), locks_(cache + "/.locks/" + folder) {}

std::string HfCache::blob(const std::string& checksum) const {
    return fmt::format("{}/blobs/{}", root_, checksum);
}
std::string HfCache::snapshot(const std::string& commit) const {
    return fmt::format("{}/snapshots/{}", root_, commit);
}

uint64_t HfCache::bytes_here(const std::string& checksum) const {
    if (const auto whole = facts_of(blob(checksum))) return whole->bytes;
    const auto part = facts_of(incomplete(checksum));
    return part ? part->bytes : 0;
}

bool HfCache::has_blob(const std::string& checksum, uint64_t n_bytes) const {
    const auto facts = facts_of(blob(checksum));
    return facts && facts->bytes == n_bytes;
}

Result<void> HfCache::make_folders() const {
    KVIK_TRY_VOID(make_folder(root_ + "/blobs"));
    return make_folder(locks_);
}

Result<uint64_t> HfCache::free_bytes() const {
    struct statvfs status = {};
    if (::statvfs(root_.c_str(), &status) != 0) return unwritten(root_, errno);
    return static_cast<uint64_t>(status.f_bavail) * status.f_frsize;
}

Result<OpenFile> HfCache::try_lock(const std::string& checksum, bool& is_taken) const {
    const std::string path = fmt::format("{}/{}.lock", locks_, checksum);
    is_taken = false;
    OpenFile file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0664));
    if (file.get() < 0) return unwritten(path, errno);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        is_taken = errno == EWOULDBLOCK || errno == EINTR;
        return file;
    }
    // Whoever had it may have removed the file: then the lock is of a name that is gone.
    struct stat own = {}, named = {};
    is_taken = ::fstat(file.get(), &own) != 0 || ::stat(path.c_str(), &named) != 0 ||
               own.st_ino != named.st_ino;
    return file;
}

Result<OpenFile> HfCache::open_incomplete(const std::string& checksum) const {
    const std::string path = incomplete(checksum);
    OpenFile file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (file.get() < 0) return unwritten(path, errno);
    struct stat status = {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return fail(ErrorKind::file, fmt::format("{} is no regular file: remove it", path));
    return file;
}

Result<void> HfCache::finish_blob(const OpenFile& file, const std::string& checksum) const {
    if (::fsync(file.get()) != 0 && errno != EINVAL) return unwritten(incomplete(checksum), errno);
    if (::rename(incomplete(checksum).c_str(), blob(checksum).c_str()) != 0)
        return unwritten(blob(checksum), errno);
    return {};
}

Result<void> HfCache::link(const std::string& commit, const std::string& name,
                           const std::string& checksum) const {
    const std::string path = fmt::format("{}/{}", snapshot(commit), name);
    KVIK_TRY_VOID(make_folder(path.substr(0, path.rfind('/'))));
    std::string target = "../../blobs/" + checksum;
    for (const char c : name)
        if (c == '/') target.insert(0, "../");
    std::error_code error;
    if (std::filesystem::read_symlink(path, error) == target) return {};
    const std::string made = beside(path);
    ::unlink(made.c_str());
    if (::symlink(target.c_str(), made.c_str()) != 0) return unwritten(path, errno);
    return put_in_place(made, path);
}

Result<void> HfCache::set_ref(const std::string& revision, const std::string& commit) const {
    const std::string path = fmt::format("{}/refs/{}", root_, revision);
    if (const auto now = read_small_file(path, 256); now && *now == commit) return {};
    KVIK_TRY_VOID(make_folder(path.substr(0, path.rfind('/'))));
    const std::string made = beside(path);
    const OpenFile file(::open(made.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (file.get() < 0) return unwritten(path, errno);
    if (::write(file.get(), commit.data(), commit.size()) != static_cast<ssize_t>(commit.size()))
        return unwritten(path, errno);
    return put_in_place(made, path);
}

}  // namespace kvik::hub
