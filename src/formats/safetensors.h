// SafetensorsFile: the weights of a Hugging Face directory: one file, or an index and the shards that
// it names, or several files that share no tensor.
//
// Use     safetensors_folder.h says which files of a directory these are.
// Owner   the files, or nothing if made from bytes: then those outlive it.
// Threads const from any thread.
// Cost    open reads the headers once, no tensor data.
// Invariant as TensorFile says; besides, every tensor of the index is in the shard that it names
//         (copies in others are passed over), and a tensor whose type, rank or emptiness an entry
//         cannot express is in skipped(), with the reason.
// Errors  ErrorKind::file, one line: file, field and tensor, byte offset, remedy.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/safetensors_folder.h"
#include "formats/tensor_file.h"
#include "formats/weight_file.h"

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
    const std::string& file_of(const TensorEntry& entry) const override;
    TensorView view(const TensorEntry& entry) const override;
    Result<void> read(const TensorEntry& entry, uint64_t begin,
                      std::span<std::byte> to) const override;
    const TensorEntry* find(std::string_view name) const override;
    std::span<const SkippedTensor> skipped() const override { return skipped_; }

  private:
    using OpenShard = std::function<Result<WeightFile>(const std::string& name)>;
    // Whether the tensor of that name is of the model; says so once for each.
    using IsWanted = std::function<bool(const std::string& name)>;

    SafetensorsFile() = default;
    Result<void> read_sharded(std::string_view index, const std::string& index_name,
                              const OpenShard& open_shard);
    Result<void> read(WeightFile file, const IsWanted& is_wanted = {});
    Result<void> sort_names();

    std::vector<WeightFile> files_;
    std::vector<TensorEntry> tensors_;  // file after file, each in its header's order
    std::vector<uint32_t> by_name_;     // indices into tensors_, ascending by name
    std::vector<SkippedTensor> skipped_;
};

Result<std::unique_ptr<TensorFile>> open_safetensors(const std::string& directory);

}  // namespace kvik
