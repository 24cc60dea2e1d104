// GgufFile: a GGUF file, versions 2 and 3, little endian: metadata and tensors, where they lie.
//
// Shape   header | metadata | tensor infos | padding | tensor data. GGUF writes a tensor's fastest
//         dimension first; Shape here is row-major, last index fastest, like everywhere in kvik.
// Owner   the mapping, or nothing if made from bytes: then those outlive it.
// Threads const from any thread.
// Cost    open reads all but the tensor data once; it allocates per key and per tensor, not per
//         array element.
// Invariant as TensorFile says; besides, no two tensors overlap and names are unique.
// Errors  damaged or cut short: ErrorKind::file. What kvik does not read (version, type of a
//         tensor, big endian): ErrorKind::unsupported. One line: file, field, byte offset, remedy.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "formats/gguf_metadata.h"
#include "formats/tensor_file.h"

namespace kvik {

class GgufFile final : public TensorFile {
  public:
    static Result<GgufFile> open(const std::string& path);
    // `name` stands for the file in messages.
    static Result<GgufFile> from_bytes(std::span<const std::byte> bytes, std::string_view name);

    uint32_t version() const { return version_; }
    uint64_t alignment() const { return alignment_; }
    uint64_t n_bytes() const { return bytes_.size(); }
    const GgufMetadata& metadata() const { return metadata_; }

    std::span<const TensorEntry> tensors() const override { return tensors_; }
    TensorView view(const TensorEntry& entry) const override;
    Result<void> read(const TensorEntry& entry, uint64_t begin,
                      std::span<std::byte> to) const override;
    const TensorEntry* find(std::string_view name) const override;

  private:
    GgufFile() = default;
    Result<void> read(std::string_view name);

    std::optional<MappedFile> mapping_;
    std::span<const std::byte> bytes_;
    uint32_t version_ = 0;
    uint64_t alignment_ = 0;
    GgufMetadata metadata_;
    std::vector<TensorEntry> tensors_;  // in the file's order
    std::vector<uint32_t> by_name_;     // indices into tensors_, ascending by name
};

}  // namespace kvik
