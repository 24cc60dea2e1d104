#include "tier/disk_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace kvik {
namespace {

int flags_of(DiskFile::Access access) {
    switch (access) {
        case DiskFile::Access::read:
            return O_RDONLY;
        case DiskFile::Access::write:
            return O_RDWR;
        case DiskFile::Access::create:
            return O_RDWR | O_CREAT | O_EXCL;
    }
    return O_RDONLY;
}

}  // namespace

std::optional<DiskFile> DiskFile::open(const std::string& path, Access access, DiskFaults* faults) {
    if (const int error = faults ? faults->fail_open(path) : 0) {
        errno = error;
        return {};
    }
    const int flags = flags_of(access) | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
    const int fd = ::open(path.c_str(), flags, 0600);
    if (fd < 0) return {};
    DiskFile file(fd, faults);
    struct stat status {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        errno = EINVAL;
        return {};
    }
    return file;
}

DiskFile::DiskFile(DiskFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), faults_(other.faults_) {}

DiskFile& DiskFile::operator=(DiskFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(faults_, other.faults_);
    return *this;
}

DiskFile::~DiskFile() {
    if (fd_ >= 0) ::close(fd_);
}

bool DiskFile::read(uint64_t offset, std::span<std::byte> to) const {
    const std::span<std::byte> all = to;
    const uint64_t begin = offset;
    while (!to.empty()) {
        if (faults_ && faults_->fail_read(offset, to.size()) != 0) return false;
        const ssize_t n = ::pread(fd_, to.data(), to.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        to = to.subspan(static_cast<size_t>(n));
        offset += static_cast<uint64_t>(n);
    }
    if (faults_) faults_->spoil_read(begin, all);
    return true;
}

int DiskFile::write(uint64_t offset, std::span<const std::byte> from) {
    while (!from.empty()) {
        size_t most = from.size();
        if (const int error = faults_ ? faults_->fail_write(offset, most) : 0) return error;
        const ssize_t n = ::pwrite(fd_, from.data(), most, static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) return ENOSPC;
        from = from.subspan(static_cast<size_t>(n));
        offset += static_cast<uint64_t>(n);
    }
    return 0;
}

int DiskFile::cut(uint64_t size) {
    return ::ftruncate(fd_, static_cast<off_t>(size)) == 0 ? 0 : errno;
}

bool DiskFile::try_lock() {
    return ::flock(fd_, LOCK_EX | LOCK_NB) == 0;
}

std::optional<uint64_t> DiskFile::size() const {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) return {};
    return static_cast<uint64_t>(status.st_size);
}

bool DiskFile::is_unlinked() const {
    struct stat status {};
    return ::fstat(fd_, &status) != 0 || status.st_nlink == 0;
}

void DiskFile::note_use() const {
    ::futimens(fd_, nullptr);
}

void DiskFile::read_here_and_there() {
    ::posix_fadvise(fd_, 0, 0, POSIX_FADV_RANDOM);
}

}  // namespace kvik
