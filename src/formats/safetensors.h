// SafetensorsFile: the weights of a Hugging Face directory: model.safetensors, or
// model.safetensors.index.json and the shards that it names.
//
// Owner   a mapping for each shard, or nothing if made from bytes: then those outlive it.
// Threads const from any thread.
// Cost    open reads the headers once, no tensor data.
// Invariant as TensorFile says; besides, index and shards agree on every tensor, and a tensor whose
//         type, rank or emptiness an entry cannot express is in skipped(), with the reason.
// Errors  ErrorKind::file, one line: file, field and tensor, byte offset, remedy.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "formats/safetensors_index.h"
#include "formats/tensor_file.h"

namespace kvik {

class SafetensorsFile final : public TensorFile {
  public:
    struct Shard {
        std::string name;  // of the file, for messages
        std::span<const std::byte> bytes;
    };

    static Result<SafetensorsFile> open(const std::string& directory);
    static Result<SafetensorsFile> from_bytes(const Shard& only);
    // `shards` are those that the index may name, by the names that it uses.
    static Result<SafetensorsFile> from_bytes(const Shard& index, std::span<const Shard> shards);

    std::span<const TensorEntry> tensors() const override { return tensors_; }
    TensorView view(const TensorEntry& entry) const override;
    Result<void> read(const TensorEntry& entry, uint64_t begin,
                      std::span<std::byte> to) const override;
    const TensorEntry* find(std::string_view name) const override;
    std::span<const SkippedTensor> skipped() const override { return skipped_; }

  private:
    struct Mapped {
        Shard shard;
        std::optional<MappedFile> mapping = {};
    };
    using OpenShard = std::function<Result<Mapped>(const std::string& name)>;

    SafetensorsFile() = default;
    static Result<Mapped> map(const std::string& path);
    Result<void> read_sharded(const Shard& index, const OpenShard& open_shard);
    Result<void> read(Mapped shard);
    void sort_names();
    const Mapped& shard_of(const TensorEntry& entry) const;

    std::vector<Mapped> shards_;
    std::vector<TensorEntry> tensors_;  // shard after shard, each in its header's order
    std::vector<uint32_t> shard_of_;    // of tensors_, into shards_
    std::vector<uint32_t> by_name_;     // indices into tensors_, ascending by name
    std::vector<SkippedTensor> skipped_;
};

Result<std::unique_ptr<TensorFile>> open_safetensors(const std::string& directory);

}  // namespace kvik
