#include "cli/repl/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "cli/repl/file_descriptor.h"

namespace kvik::cli {
namespace {

// What makes writing possible.
std::string_view remedy(int error) {
    switch (error) {
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
            return ": make room or choose another place";
        case EACCES:
        case EPERM:
        case EROFS:
            return ": choose a place that you may write to";
        case ENOENT:
        case ENOTDIR:
            return ": choose a folder that exists";
        default:
            return "";
    }
}

tl::unexpected<Error> unwritten(const std::string& path, int error) {
    return fail(ErrorKind::file,
                fmt::format("writing {}: {}{}", path, std::strerror(error), remedy(error)));
}

tl::unexpected<Error> unread(const std::string& path, int error) {
    return fail(ErrorKind::file, fmt::format("reading {}: {}", path, std::strerror(error)));
}

// 0, or the errno that stopped it.
int write_out(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        bytes.remove_prefix(static_cast<size_t>(n));
    }
    return ::fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
}

// Where the bytes go in the end: past symbolic links.
std::string target_of(const std::string& path) {
    char* real = ::realpath(path.c_str(), nullptr);
    if (real == nullptr) return path;
    std::string target(real);
    std::free(real);
    return target;
}

}  // namespace

Result<void> replace_file(const std::string& path, std::string_view bytes) {
    const std::string target = target_of(path);
    struct stat status {};
    mode_t mode = 0600;
    if (::stat(target.c_str(), &status) == 0) {
        if (!S_ISREG(status.st_mode))
            return fail(ErrorKind::file,
                        fmt::format("{} is no regular file: choose another name", path));
        mode = status.st_mode & 0777;
    }
    std::string beside = target + "." + std::string(6, 'X');  // mkostemp chooses the letters
    FileDescriptor file(::mkostemp(beside.data(), O_CLOEXEC));
    if (file.get() < 0) return unwritten(path, errno);
    int error = write_out(file.get(), bytes);
    if (error == 0 && ::fchmod(file.get(), mode) != 0) error = errno;
    if (error == 0 && ::rename(beside.c_str(), target.c_str()) != 0) error = errno;
    if (error == 0) return {};
    ::unlink(beside.c_str());
    return unwritten(path, error);
}

void make_private_folders(const std::string& path) {
    for (size_t slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1))
        ::mkdir(path.substr(0, slash).c_str(), 0700);
}

Result<std::string> read_small_file(const std::string& path, size_t most_bytes) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) return unread(path, errno);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return unread(path, errno);
    if (!S_ISREG(status.st_mode))
        return fail(ErrorKind::file, fmt::format("{} is no regular file", path));
    std::string bytes;
    for (;;) {
        char chunk[1 << 16];
        const ssize_t n = ::read(file.get(), chunk, sizeof chunk);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return unread(path, errno);
        if (n == 0) return bytes;
        bytes.append(chunk, static_cast<size_t>(n));
        if (bytes.size() > most_bytes)
            return fail(ErrorKind::file,
                        fmt::format("{} is longer than {} MiB", path, most_bytes >> 20));
    }
}

}  // namespace kvik::cli
