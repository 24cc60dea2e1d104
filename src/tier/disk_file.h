// DiskFile: an open file of the tier, and the only place where the tier meets the disk.
//
// Owner   the descriptor and the lock on it.
// Threads reads from any thread; the rest from one at a time.
// Errors  an errno, 0 if all went well: what to do about it is the caller's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tier/disk_faults.h"

namespace kvik {

class DiskFile {
  public:
    enum class Access : uint8_t { read, write, create };

    // Nothing: errno says why. Only regular files; a new one is its owner's alone (mode 0600).
    static std::optional<DiskFile> open(const std::string& path, Access access, DiskFaults* faults);

    DiskFile(DiskFile&& other) noexcept;
    DiskFile& operator=(DiskFile&& other) noexcept;
    ~DiskFile();

    // All of `to`, or false: an error, or the file ends before.
    bool read(uint64_t offset, std::span<std::byte> to) const;
    int write(uint64_t offset, std::span<const std::byte> from);
    int cut(uint64_t size);

    // Nobody else can hold the lock meanwhile. False: somebody does.
    bool try_lock();
    std::optional<uint64_t> size() const;
    bool is_unlinked() const;    // no folder names it any more
    void note_use() const;       // the time of its last use is now
    void read_here_and_there();  // tells the system not to read ahead

  private:
    DiskFile(int fd, DiskFaults* faults) : fd_(fd), faults_(faults) {}

    int fd_;
    DiskFaults* faults_;
};

}  // namespace kvik
