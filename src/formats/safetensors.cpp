#include "formats/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>

#include "base/check.h"
#include "formats/byte_cursor.h"
#include "formats/safetensors_header.h"
#include "formats/sorted_index.h"

namespace kvik {
namespace {

constexpr std::string_view kSingleName = "model.safetensors";
constexpr std::string_view kIndexName = "model.safetensors.index.json";

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

    Result<void> shard_has(uint32_t shard, const std::string& tensor, uint64_t offset) {
        const auto at = std::lower_bound(index_.tensors.begin(), index_.tensors.end(), tensor,
                                         [](const SafetensorsIndex::Tensor& t,
                                            const std::string& name) { return t.name < name; });
        const bool is_there = at != index_.tensors.end() && at->name == tensor;
        if (is_there && at->shard == shard) {
            seen_[at - index_.tensors.begin()] = true;
            return {};
        }
        const std::string said = is_there ? "in " + in_quotes(index_.shards[at->shard]) : "nowhere";
        return disagree(tensor, fmt::format("puts it {}, but {} has it at byte {}", said,
                                            in_quotes(index_.shards[shard]), offset));
    }
    Result<void> nothing_is_missing() const {
        const auto at = std::find(seen_.begin(), seen_.end(), false);
        if (at == seen_.end()) return {};
        const SafetensorsIndex::Tensor& tensor = index_.tensors[at - seen_.begin()];
        return disagree(tensor.name, fmt::format("puts it in {}, which does not have it",
                                                 in_quotes(index_.shards[tensor.shard])));
    }

  private:
    tl::unexpected<Error> disagree(const std::string& tensor, std::string_view problem) const {
        return fail(ErrorKind::file,
                    fmt::format("{}: 'weight_map' of tensor {} {}: index and files are not of one "
                                "model, fetch all of them again",
                                name_, in_quotes(tensor), problem));
    }

    const SafetensorsIndex& index_;
    std::string_view name_;
    std::vector<bool> seen_;
};

std::string_view as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Result<SafetensorsFile::Mapped> SafetensorsFile::map(const std::string& path) {
    KVIK_TRY(MappedFile mapping, MappedFile::open(path));
    const std::span<const std::byte> bytes = mapping.bytes();
    return Mapped{{path, bytes}, std::move(mapping)};
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string& directory) {
    namespace fs = std::filesystem;
    const fs::path folder(directory);
    const std::string single = (folder / kSingleName).string();
    const std::string index = (folder / kIndexName).string();
    std::error_code ignored;
    SafetensorsFile file;
    if (fs::exists(single, ignored)) {
        KVIK_TRY(Mapped only, map(single));
        KVIK_TRY_VOID(file.read(std::move(only)));
    } else if (fs::exists(index, ignored)) {
        KVIK_TRY(const Mapped mapped, map(index));
        KVIK_TRY_VOID(file.read_sharded(
            mapped.shard, [&](const std::string& name) { return map((folder / name).string()); }));
    } else {
        return fail(ErrorKind::file,
                    fmt::format("{}: has neither {} nor {}: give a directory with one of them, or "
                                "a GGUF file",
                                directory, kSingleName, kIndexName));
    }
    file.sort_names();
    return file;
}

Result<SafetensorsFile> SafetensorsFile::from_bytes(const Shard& only) {
    SafetensorsFile file;
    KVIK_TRY_VOID(file.read({only}));
    file.sort_names();
    return file;
}

Result<SafetensorsFile> SafetensorsFile::from_bytes(const Shard& index,
                                                    std::span<const Shard> shards) {
    SafetensorsFile file;
    KVIK_TRY_VOID(file.read_sharded(index, [&](const std::string& name) -> Result<Mapped> {
        const auto at = std::find_if(shards.begin(), shards.end(),
                                     [&](const Shard& shard) { return shard.name == name; });
        if (at != shards.end()) return Mapped{*at};
        return fail(ErrorKind::file,
                    fmt::format("cannot open {}: it is not among the shards", name));
    }));
    file.sort_names();
    return file;
}

Result<void> SafetensorsFile::read_sharded(const Shard& index_file, const OpenShard& open_shard) {
    KVIK_TRY(const SafetensorsIndex index,
             read_safetensors_index(as_text(index_file.bytes), index_file.name));
    IndexCheck check(index, index_file.name);
    for (uint32_t shard = 0; shard < index.shards.size(); ++shard) {
        const size_t n_tensors = tensors_.size();
        const size_t n_skipped = skipped_.size();
        KVIK_TRY(Mapped opened, open_shard(index.shards[shard]));
        KVIK_TRY_VOID(read(std::move(opened)));
        for (size_t i = n_tensors; i < tensors_.size(); ++i)
            KVIK_TRY_VOID(check.shard_has(shard, tensors_[i].name, tensors_[i].offset));
        for (size_t i = n_skipped; i < skipped_.size(); ++i)
            KVIK_TRY_VOID(check.shard_has(shard, skipped_[i].name, skipped_[i].offset));
    }
    return check.nothing_is_missing();
}

Result<void> SafetensorsFile::read(Mapped mapped) {
    KVIK_TRY(std::vector<SafetensorsInfo> infos,
             read_safetensors_header(mapped.shard.bytes, mapped.shard.name));
    for (SafetensorsInfo& info : infos) {
        std::string why = why_skipped(info);
        if (!why.empty()) {
            const bool matters = could_matter(info);
            skipped_.push_back({std::move(info.name), std::move(why), info.offset, matters});
            continue;
        }
        tensors_.push_back(entry_of(std::move(info)));
        shard_of_.push_back(static_cast<uint32_t>(shards_.size()));
    }
    shards_.push_back(std::move(mapped));
    return {};
}

void SafetensorsFile::sort_names() {
    by_name_ = sorted_index(tensors_.size(),
                            [&](uint32_t i) -> std::string_view { return tensors_[i].name; });
    std::sort(skipped_.begin(), skipped_.end(),
              [](const SkippedTensor& a, const SkippedTensor& b) { return a.name < b.name; });
}

const SafetensorsFile::Mapped& SafetensorsFile::shard_of(const TensorEntry& entry) const {
    const TensorEntry* begin = tensors_.data();
    KVIK_CHECK(
        std::greater_equal<>()(&entry, begin) && std::less<>()(&entry, begin + tensors_.size()),
        "an entry belongs to the file that is asked for its bytes");
    return shards_[shard_of_[&entry - begin]];
}

TensorView SafetensorsFile::view(const TensorEntry& entry) const {
    return {entry.dtype, entry.shape,
            shard_of(entry).shard.bytes.subspan(entry.offset, entry.n_bytes)};
}

Result<void> SafetensorsFile::read(const TensorEntry& entry, uint64_t begin,
                                   std::span<std::byte> to) const {
    KVIK_CHECK(begin <= entry.n_bytes && to.size() <= entry.n_bytes - begin,
               "only bytes of the entry are read");
    const Mapped& mapped = shard_of(entry);
    if (mapped.mapping) return mapped.mapping->read(entry.offset + begin, to);
    std::memcpy(to.data(), view(entry).bytes.data() + begin, to.size());
    return {};
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
