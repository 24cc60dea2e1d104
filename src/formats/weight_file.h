// WeightFile: one file of weights: its head is read into memory, its tensors are read on demand.
//
// Owner   the open file and what was read of its head; or nothing if made from bytes: then those
//         outlive it.
// Threads const from any thread.
// Cost    head(n) reads what it has not read yet; memory of n bytes.
// Invariant what was read of the head stays where it is until more of it is asked for.
// Errors  missing, unreadable, empty, cut while it is read: ErrorKind::file, naming the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"

namespace kvik {

class WeightFile {
  public:
    static Result<WeightFile> open(const std::string& path);
    // `name` stands for the file in messages.
    static WeightFile of_bytes(std::span<const std::byte> bytes, std::string name);

    const std::string& name() const { return name_; }
    uint64_t n_bytes() const { return n_bytes_; }
    // The first n_bytes of the file, or all of it if it has less.
    Result<std::span<const std::byte>> head(uint64_t n_bytes);
    void forget_head() { head_ = {}; }
    // Of [offset, offset + n_bytes), which is in the file. The process ends if the file was cut.
    std::span<const std::byte> view(uint64_t offset, uint64_t n_bytes) const;
    Result<void> read(uint64_t offset, std::span<std::byte> to) const;

  private:
    WeightFile() = default;

    std::string name_;
    uint64_t n_bytes_ = 0;
    std::optional<MappedFile> file_;    // or
    std::span<const std::byte> bytes_;  // one of the two
    std::vector<std::byte> head_;       // of file_
};

}  // namespace kvik
