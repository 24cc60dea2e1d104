// FaultyFiles: for tests, a file system in which things go wrong as a DiskFaults says.
//
// Shape   wraps posix_files(). A test derives from DiskFaults and overrides what shall fail;
//         nothing else does.
// Owner   the faults are borrowed and outlive it.
// Threads as FileSystem: faults are asked on the writer's thread and on those that read.
// Cost    one virtual call more per operation.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "tier/file_system.h"

namespace kvik {

class DiskFaults {
  public:
    virtual ~DiskFaults() = default;

    // Returns an errno for opening or making this path, or 0.
    virtual int fail_open(const std::string& /*path*/) { return 0; }
    // Returns an errno for this write, or 0. A smaller n_bytes makes the write a short one, after
    // which the rest is a write of its own.
    virtual int fail_write(uint64_t /*offset*/, size_t& /*n_bytes*/) { return 0; }
    // Returns an errno for this read, or 0.
    virtual int fail_read(uint64_t /*offset*/, size_t /*n_bytes*/) { return 0; }
    // May change what was read, before anybody looks at it.
    virtual void spoil_read(uint64_t /*offset*/, std::span<std::byte> /*bytes*/) {}
};

class FaultyFile final : public DiskFile {
  public:
    FaultyFile(std::unique_ptr<DiskFile> file, DiskFaults& faults)
        : file_(std::move(file)), faults_(faults) {}

    bool read(uint64_t offset, std::span<std::byte> to) const override {
        if (faults_.fail_read(offset, to.size()) != 0 || !file_->read(offset, to)) return false;
        faults_.spoil_read(offset, to);
        return true;
    }
    int write(uint64_t offset, std::span<const std::byte> from) override {
        while (!from.empty()) {
            size_t n_bytes = from.size();
            if (const int error = faults_.fail_write(offset, n_bytes)) return error;
            if (const int error = file_->write(offset, from.first(n_bytes))) return error;
            from = from.subspan(n_bytes);
            offset += n_bytes;
        }
        return 0;
    }
    int truncate(uint64_t size) override { return file_->truncate(size); }
    bool try_lock() override { return file_->try_lock(); }
    std::optional<uint64_t> size() const override { return file_->size(); }
    bool is_unlinked() const override { return file_->is_unlinked(); }
    void note_use() const override { file_->note_use(); }
    void expect_random_reads() override { file_->expect_random_reads(); }

  private:
    std::unique_ptr<DiskFile> file_;
    DiskFaults& faults_;
};

class FaultyFiles final : public FileSystem {
  public:
    explicit FaultyFiles(DiskFaults& faults) : faults_(faults) {}

    std::unique_ptr<DiskFile> open(const std::string& path, FileAccess access) override {
        if (const int error = faults_.fail_open(path)) {
            errno = error;
            return nullptr;
        }
        auto file = posix_files().open(path, access);
        if (!file) return nullptr;
        return std::make_unique<FaultyFile>(std::move(file), faults_);
    }

  private:
    DiskFaults& faults_;
};

}  // namespace kvik
