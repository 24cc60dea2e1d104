#include "base/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace kvik {

Result<MappedFile> MappedFile::open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail(ErrorKind::file, fmt::format("cannot open {}: {}", path, std::strerror(errno)));
    struct stat st = {};
    const bool known = ::fstat(fd, &st) == 0;
    if (!known || !S_ISREG(st.st_mode) || st.st_size <= 0) {
        const char* why = !known                 ? std::strerror(errno)
                          : !S_ISREG(st.st_mode) ? "it is not a regular file"
                                                 : "it is empty";
        Error error{ErrorKind::file, fmt::format("cannot read {}: {}", path, why)};
        ::close(fd);
        return tl::unexpected<Error>(std::move(error));
    }
    const auto size = static_cast<size_t>(st.st_size);
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
        const int map_errno = errno;
        ::close(fd);
        return fail(
            map_errno == ENOMEM ? ErrorKind::memory : ErrorKind::file,
            fmt::format("cannot map {} ({} bytes): {}", path, size, std::strerror(map_errno)));
    }
    MappedFile file;
    file.path_ = path;
    file.data_ = static_cast<const std::byte*>(data);
    file.size_ = size;
    file.fd_ = fd;
    return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      fd_(std::exchange(other.fd_, -1)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(fd_, other.fd_);
    return *this;
}

MappedFile::~MappedFile() {
    if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
    if (fd_ >= 0) ::close(fd_);
}

Result<void> MappedFile::read(uint64_t offset, std::span<std::byte> to) const {
    size_t done = 0;
    while (done < to.size()) {
        const ssize_t n =
            ::pread(fd_, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n > 0) {
            done += static_cast<size_t>(n);
            continue;
        }
        return fail(
            ErrorKind::file,
            fmt::format("{}: {} at byte {}: fetch the file again", path_,
                        n < 0 ? std::strerror(errno) : "was cut while it was read", offset + done));
    }
    return {};
}

Result<std::string> read_whole_file(const std::string& path, uint64_t most_bytes) {
    KVIK_TRY(const MappedFile file, MappedFile::open(path));
    if (file.bytes().size() > most_bytes)
        return fail(ErrorKind::file,
                    fmt::format("{}: has {} bytes, the limit is {}: it is damaged or "
                                "hostile, fetch it again",
                                path, file.bytes().size(), most_bytes));
    std::string text(file.bytes().size(), '\0');
    KVIK_TRY_VOID(file.read(0, std::as_writable_bytes(std::span(text))));
    return text;
}

}  // namespace kvik
