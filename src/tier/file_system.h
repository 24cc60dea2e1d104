// FileSystem: the operations through which the disk tier opens, reads and writes its segment files.
// The tier is given one, so that a test can give it another that fails where the test wants.
//
// Use     posix_files() is that of the operating system. An implementation of another kind wraps
//         it.
// Owner   a DiskFile owns its descriptor and its lock, and gives both up when it is destroyed. A
//         FileSystem outlives the files that it opened.
// Threads open and DiskFile::read from any thread; the other functions of a file from one at a
//         time.
// Cost    one system call each; read and write go on until all bytes are through.
// Errors  open leaves errno; the others return an errno, or 0 if all went well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace kvik {

class DiskFile {
  public:
    virtual ~DiskFile() = default;

    // Fills all of `to`. False: an error, or the file ends before.
    virtual bool read(uint64_t offset, std::span<std::byte> to) const = 0;
    virtual int write(uint64_t offset, std::span<const std::byte> from) = 0;
    virtual int truncate(uint64_t size) = 0;

    // Takes the exclusive lock of the file. False: another process holds it.
    virtual bool try_lock() = 0;
    virtual std::optional<uint64_t> size() const = 0;
    virtual bool is_unlinked() const = 0;  // no folder names it any more
    virtual void note_use() const = 0;     // sets the time of its last use to now
    // Tells the system not to read ahead.
    virtual void expect_random_reads() = 0;
};

enum class FileAccess : uint8_t { read, write, create };

class FileSystem {
  public:
    virtual ~FileSystem() = default;

    // Null: errno says why. Only regular files are opened, and no symbolic link is followed; a new
    // file is its owner's alone (mode 0600).
    virtual std::unique_ptr<DiskFile> open(const std::string& path, FileAccess access) = 0;
};

FileSystem& posix_files();

}  // namespace kvik
