// GgufFile: a GGUF file, versions 2 and 3, little endian: metadata and tensors, where they lie. A
// model that is split over NAME-00001-of-0000N.gguf is one GgufFile, whichever part is named.
//
// Shape   header | metadata | tensor infos | padding | tensor data. GGUF writes a tensor's fastest
//         dimension first; Shape here is row-major, last index fastest, like everywhere in kvik.
// Owner   the files, or nothing if made from bytes: then those outlive it.
// Threads const from any thread.
// Cost    open reads all but the tensor data, of at most 512 MiB, into memory; it allocates per key
//         and per tensor, not per array element.
// Invariant as TensorFile says; besides, no two tensors overlap and names are unique.
// Errors  damaged or cut short: ErrorKind::file. What kvik does not read (version, type of a
//         tensor, big endian): ErrorKind::unsupported. One line: file, field, byte offset, remedy.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/byte_cursor.h"
#include "formats/gguf_metadata.h"
#include "formats/tensor_file.h"
#include "formats/weight_file.h"

namespace kvik {

class GgufFile final : public TensorFile {
  public:
    static Result<GgufFile> open(const std::string& path);
    // Of a split model only the part with the metadata, and its tensors.
    static Result<GgufFile> open_first_part(const std::string& path);
    // `name` stands for the file in messages.
    static Result<GgufFile> from_bytes(std::span<const std::byte> bytes, std::string_view name);

    uint32_t version() const { return version_; }
    uint64_t alignment() const { return alignment_; }
    uint64_t n_bytes() const;  // of all parts
    const GgufMetadata& metadata() const { return metadata_; }

    std::span<const TensorEntry> tensors() const override { return tensors_; }
    const std::string& file_of(const TensorEntry& entry) const override;
    TensorView view(const TensorEntry& entry) const override;
    Result<void> read(const TensorEntry& entry, uint64_t begin,
                      std::span<std::byte> to) const override;
    const TensorEntry* find(std::string_view name) const override;

  private:
    GgufFile() = default;
    static Result<GgufFile> read(WeightFile file);
    Result<void> add_parts(uint32_t n_parts);
    Result<void> sort_names();

    std::vector<WeightFile> parts_;
    uint32_t version_ = 0;
    uint64_t alignment_ = 0;
    GgufMetadata metadata_;
    std::vector<TensorEntry> tensors_;  // part after part, each in its file's order
    std::vector<uint32_t> by_name_;     // indices into tensors_, ascending by name
};

// ----
// Tensor infos of a GGUF file: bytes -> TensorEntry, each law checked before its number is used.
//
// Cost    one pass; then a sort by offset to find overlaps.
// Errors  as gguf.h.

// An entry and where the file speaks of it. entry.offset counts from the start of the tensor data
// until place_tensors has run.
struct GgufTensorInfo {
    TensorEntry entry;
    uint64_t begin = 0;      // byte where its info begins
    uint64_t offset_at = 0;  // byte of its offset field
};

Result<GgufTensorInfo> read_tensor_info(ByteCursor& cursor);

// Turns offsets into offsets in the file. `cursor` stands behind the last info.
Result<void> place_tensors(const ByteCursor& cursor, uint64_t alignment,
                           std::vector<GgufTensorInfo>& infos);

}  // namespace kvik
