// MappedFile: a whole file, read-only, by mmap.
//
// Owner   the mapping; views into bytes() die with it.
// Threads const access from any thread.
// Use     bytes() for what is looked at here and there; read() for large pieces: it copies, so that
//         a file read piece by piece is never held twice, and a file that is cut meanwhile is an
//         error. Touching bytes() that are gone ends the process.
// Cost    open is O(1); pages are read when touched.
// Errors  missing, unreadable, empty or not a regular file: ErrorKind::file, naming the path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace kvik {

class MappedFile {
  public:
    static Result<MappedFile> open(const std::string& path);

    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    const std::string& path() const { return path_; }
    std::span<const std::byte> bytes() const { return {data_, size_}; }
    // Copies bytes [offset, offset + to.size()) of the file as it is now.
    Result<void> read(uint64_t offset, std::span<std::byte> to) const;

  private:
    MappedFile() = default;

    std::string path_;
    const std::byte* data_ = nullptr;
    size_t size_ = 0;
    int fd_ = -1;
};

// The bytes of a file of at most most_bytes, copied: a file that is cut meanwhile is an error.
Result<std::string> read_whole_file(const std::string& path, uint64_t most_bytes);

}  // namespace kvik
