#include "formats/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "base/mapped_file.h"
#include "formats/byte_cursor.h"
#include "formats/safetensors_folder.h"
#include "formats/safetensors_header.h"
#include "formats/sorted_index.h"

namespace kvik {
namespace {

struct KnownType {
    std::string_view name;
    DType dtype;
};

constexpr KnownType kKnownTypes[] = {
    {"F32", DType::f32}, {"F16", DType::f16}, {"BF16", DType::bf16}};

// Why an entry cannot express this tensor; empty: it can.
std::string why_skipped(const SafetensorsInfo& info) {
    const bool is_known = std::any_of(std::begin(kKnownTypes), std::end(kKnownTypes),
                                      [&](const KnownType& t) { return t.name == info.type; });
    if (!is_known)
        return fmt::format("is of type {}, kvik computes with F32, F16 and BF16",
                           in_quotes(info.type));
    if (info.n_dims > info.dims.size())
        return fmt::format("has {} dimensions, the limit is {}", info.n_dims, info.dims.size());
    return info.n_elements == 0 ? "has no elements" : "";
}

bool could_matter(const SafetensorsInfo& info) {
    constexpr std::string_view kIntegers[] = {"BOOL", "U8",  "I8",  "U16", "I16",
                                              "U32",  "I32", "U64", "I64"};
    return info.n_elements > 0 &&
           std::find(std::begin(kIntegers), std::end(kIntegers), info.type) == std::end(kIntegers);
}

TensorEntry entry_of(SafetensorsInfo&& info) {
    TensorEntry entry;
    entry.name = std::move(info.name);
    entry.dtype =
        std::find_if(std::begin(kKnownTypes), std::end(kKnownTypes), [&](const KnownType& t) {
            return t.name == info.type;
        })->dtype;
    entry.shape.n_dims = std::max(1u, static_cast<uint32_t>(info.n_dims));  // a number is [1]
    std::copy_n(info.dims.begin(), info.n_dims, entry.shape.dims.begin());
    entry.offset = info.offset;
    entry.n_bytes = info.n_bytes;
    return entry;
}

// Crosses tensors off the index, shard by shard.
class IndexCheck {
  public:
    IndexCheck(const SafetensorsIndex& index, std::string_view name)
        : index_(index), name_(name), seen_(index.tensors.size()) {}

    // Whether the shard's tensor is the model's: the index says so, or does not know it.
    bool is_wanted(uint32_t shard, const std::string& tensor) {
        const auto at = std::lower_bound(index_.tensors.begin(), index_.tensors.end(), tensor,
                                         [](const SafetensorsIndex::Tensor& t,
                                            const std::string& name) { return t.name < name; });
        if (at == index_.tensors.end() || at->name != tensor) return true;
        if (at->shard != shard) return false;
        seen_[at - index_.tensors.begin()] = true;
        return true;
    }
    Result<void> nothing_is_missing() const {
        const auto at = std::find(seen_.begin(), seen_.end(), false);
        if (at == seen_.end()) return {};
        const SafetensorsIndex::Tensor& tensor = index_.tensors[at - seen_.begin()];
        return fail(
            ErrorKind::file,
            fmt::format("{}: 'weight_map' of tensor {} puts it in {}, which does not have "
                        "it: index and files are not of one model, fetch all of them again",
                        name_, in_quotes(tensor.name), in_quotes(index_.shards[tensor.shard])));
    }

  private:
    const SafetensorsIndex& index_;
    std::string_view name_;
    std::vector<bool> seen_;
};

std::string_view as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::open(const std::string& directory) {
    KVIK_TRY(const SafetensorsFolder folder, find_safetensors(directory));
    const auto path_of = [&](const std::string& name) { return directory + "/" + name; };
    SafetensorsFile file;
    if (folder.index.empty()) {
        for (const std::string& name : folder.files) {
            KVIK_TRY(WeightFile opened, WeightFile::open(path_of(name)));
            KVIK_TRY_VOID(file.read(std::move(opened)));
        }
    } else {
        const std::string index = path_of(folder.index);
        KVIK_TRY(const std::string text, read_whole_file(index, kMaxSafetensorsIndexBytes));
        KVIK_TRY_VOID(
            file.read_sharded(text, index, [&](const std::string& name) -> Result<WeightFile> {
                Result<WeightFile> opened = WeightFile::open(path_of(name));
                if (opened) return opened;
                return fail(opened.error().kind, fmt::format("{}: {} names it, put it beside it",
                                                             opened.error().message, folder.index));
            }));
    }
    KVIK_TRY_VOID(file.sort_names());
    return file;
}

Result<SafetensorsFile> SafetensorsFile::from_bytes(const Shard& only) {
    SafetensorsFile file;
    KVIK_TRY_VOID(file.read(WeightFile::of_bytes(only.bytes, only.name)));
    KVIK_TRY_VOID(file.sort_names());
    return file;
}

Result<SafetensorsFile> SafetensorsFile::from_bytes(const Shard& index,
                                                    std::span<const Shard> shards) {
    SafetensorsFile file;
    KVIK_TRY_VOID(file.read_sharded(
        as_text(index.bytes), index.name, [&](const std::string& name) -> Result<WeightFile> {
            const auto at = std::find_if(shards.begin(), shards.end(),
                                         [&](const Shard& shard) { return shard.name == name; });
            if (at != shards.end()) return WeightFile::of_bytes(at->bytes, at->name);
            return fail(ErrorKind::file,
                        fmt::format("cannot open {}: it is not among the shards", name));
        }));
    KVIK_TRY_VOID(file.sort_names());
    return file;
}

Result<void> SafetensorsFile::read_sharded(std::string_view index_text,
                                           const std::string& index_name,
                                           const OpenShard& open_shard) {
    KVIK_TRY(const SafetensorsIndex index, read_safetensors_index(index_text, index_name));
    IndexCheck check(index, index_name);
    for (uint32_t shard = 0; shard < index.shards.size(); ++shard) {
        KVIK_TRY(WeightFile opened, open_shard(index.shards[shard]));
        KVIK_TRY_VOID(read(std::move(opened), [&](const std::string& tensor) {
            return check.is_wanted(shard, tensor);
        }));
    }
    return check.nothing_is_missing();
}

Result<void> SafetensorsFile::read(WeightFile file, const IsWanted& is_wanted) {
    KVIK_TRY(std::vector<SafetensorsInfo> infos, read_safetensors_header(file));
    file.forget_head();
    for (SafetensorsInfo& info : infos) {
        if (is_wanted && !is_wanted(info.name)) continue;
        std::string why = why_skipped(info);
        if (!why.empty()) {
            const bool matters = could_matter(info);
            skipped_.push_back(
                {std::move(info.name), std::move(why), info.offset, file.name(), matters});
            continue;
        }
        tensors_.push_back(entry_of(std::move(info)));
        tensors_.back().file = static_cast<uint32_t>(files_.size());
    }
    files_.push_back(std::move(file));
    return {};
}

// Also sees to it that no two files have a tensor of one name.
Result<void> SafetensorsFile::sort_names() {
    const auto name_of = [&](uint32_t i) -> std::string_view { return tensors_[i].name; };
    by_name_ = sorted_index(tensors_.size(), name_of);
    std::sort(skipped_.begin(), skipped_.end(),
              [](const SkippedTensor& a, const SkippedTensor& b) { return a.name < b.name; });
    const auto twins = find_twins(std::span<const uint32_t>(by_name_), name_of);
    if (!twins) return {};
    return fail(
        ErrorKind::file,
        fmt::format("{}: tensor {} at byte {} is in {} too, and no index says which of them "
                    "counts: keep the files of one model in a directory",
                    file_of(tensors_[twins->second]), in_quotes(name_of(twins->first)),
                    tensors_[twins->second].offset, file_of(tensors_[twins->first])));
}

const std::string& SafetensorsFile::file_of(const TensorEntry& entry) const {
    KVIK_CHECK(entry.file < files_.size(), "an entry belongs to the file that is asked about it");
    return files_[entry.file].name();
}

TensorView SafetensorsFile::view(const TensorEntry& entry) const {
    return {entry.dtype, entry.shape, files_[entry.file].view(entry.offset, entry.n_bytes)};
}

Result<void> SafetensorsFile::read(const TensorEntry& entry, uint64_t begin,
                                   std::span<std::byte> to) const {
    KVIK_CHECK(begin <= entry.n_bytes && to.size() <= entry.n_bytes - begin,
               "only bytes of the entry are read");
    return files_[entry.file].read(entry.offset + begin, to);
}

const TensorEntry* SafetensorsFile::find(std::string_view name) const {
    const auto name_of = [&](uint32_t i) -> std::string_view { return tensors_[i].name; };
    const std::optional<uint32_t> at = find_sorted(by_name_, name_of, name);
    return at ? &tensors_[*at] : nullptr;
}

Result<std::unique_ptr<TensorFile>> open_safetensors(const std::string& directory) {
    KVIK_TRY(SafetensorsFile file, SafetensorsFile::open(directory));
    return std::make_unique<SafetensorsFile>(std::move(file));
}

}  // namespace kvik
