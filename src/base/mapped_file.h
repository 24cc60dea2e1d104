// MappedFile: a whole file, read-only, by mmap.
//
// Owner   the mapping; views into bytes() die with it.
// Threads const access from any thread.
// Cost    open is O(1); pages are read when touched. `release` gives pages back to the kernel, so
//         that a reader which copies a file piece by piece never holds it twice.
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
    void release(uint64_t offset, uint64_t n_bytes) const noexcept;  // whole pages inside the range

  private:
    MappedFile() = default;

    std::string path_;
    const std::byte* data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace kvik
