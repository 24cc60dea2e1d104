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
    const int map_errno = errno;
    ::close(fd);
    if (data == MAP_FAILED)
        return fail(
            map_errno == ENOMEM ? ErrorKind::memory : ErrorKind::file,
            fmt::format("cannot map {} ({} bytes): {}", path, size, std::strerror(map_errno)));
    MappedFile file;
    file.path_ = path;
    file.data_ = static_cast<const std::byte*>(data);
    file.size_ = size;
    return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

MappedFile::~MappedFile() {
    if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::release(uint64_t offset, uint64_t n_bytes) const noexcept {
    const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    const uint64_t begin = (offset + page - 1) / page * page;
    const uint64_t end = (offset + n_bytes) / page * page;
    if (end <= begin || end > (size_ + page - 1) / page * page) return;
    ::madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace kvik
