#include "tier/file_system.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace kvik {
namespace {

int flags_of(FileAccess access) {
    switch (access) {
        case FileAccess::read:
            return O_RDONLY;
        case FileAccess::write:
            return O_RDWR;
        case FileAccess::create:
            return O_RDWR | O_CREAT | O_EXCL;
    }
    return O_RDONLY;
}

class PosixFile final : public DiskFile {
  public:
    explicit PosixFile(int fd) : fd_(fd) {}
    ~PosixFile() override { ::close(fd_); }
    PosixFile(const PosixFile&) = delete;
    PosixFile& operator=(const PosixFile&) = delete;

    bool read(uint64_t offset, std::span<std::byte> to) const override {
        while (!to.empty()) {
            const ssize_t n = ::pread(fd_, to.data(), to.size(), static_cast<off_t>(offset));
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return false;
            to = to.subspan(static_cast<size_t>(n));
            offset += static_cast<uint64_t>(n);
        }
        return true;
    }

    int write(uint64_t offset, std::span<const std::byte> from) override {
        while (!from.empty()) {
            const ssize_t n = ::pwrite(fd_, from.data(), from.size(), static_cast<off_t>(offset));
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) return errno;
            if (n == 0) return ENOSPC;
            from = from.subspan(static_cast<size_t>(n));
            offset += static_cast<uint64_t>(n);
        }
        return 0;
    }

    int truncate(uint64_t size) override {
        return ::ftruncate(fd_, static_cast<off_t>(size)) == 0 ? 0 : errno;
    }

    bool try_lock() override { return ::flock(fd_, LOCK_EX | LOCK_NB) == 0; }

    std::optional<uint64_t> size() const override {
        struct stat status {};
        if (::fstat(fd_, &status) != 0) return {};
        return static_cast<uint64_t>(status.st_size);
    }

    bool is_unlinked() const override {
        struct stat status {};
        return ::fstat(fd_, &status) != 0 || status.st_nlink == 0;
    }

    void note_use() const override { ::futimens(fd_, nullptr); }

    void expect_random_reads() override { ::posix_fadvise(fd_, 0, 0, POSIX_FADV_RANDOM); }

  private:
    int fd_;
};

class PosixFiles final : public FileSystem {
  public:
    std::unique_ptr<DiskFile> open(const std::string& path, FileAccess access) override {
        const int flags = flags_of(access) | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
        const int fd = ::open(path.c_str(), flags, 0600);
        if (fd < 0) return nullptr;
        auto file = std::make_unique<PosixFile>(fd);
        struct stat status {};
        if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) return file;
        file.reset();
        errno = EINVAL;
        return nullptr;
    }
};

}  // namespace

FileSystem& posix_files() {
    static PosixFiles files;
    return files;
}

}  // namespace kvik
