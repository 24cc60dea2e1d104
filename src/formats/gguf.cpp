#include "formats/gguf.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "base/check.h"
#include "formats/gguf_tensor_info.h"
#include "formats/sorted_index.h"

namespace kvik {
namespace {

constexpr uint32_t kMagic = 0x46554747;         // "GGUF"
constexpr uint64_t kMaxEntries = 1 << 20;       // keys, and tensors: no model has a hundredth
constexpr uint64_t kMinValueBytes = 8 + 4 + 1;  // key length, type, a byte
constexpr uint64_t kMinInfoBytes =
    8 + 4 + 8 + 4 + 8;  // name length, n_dims, a dimension, type, offset
constexpr uint64_t kDefaultAlignment = 32;
constexpr IntegerRange kAlignmentRange = {8, 1 << 30};

Result<uint32_t> read_version(ByteCursor& cursor) {
    KVIK_TRY(const uint32_t magic, cursor.number<uint32_t>({"magic"}));
    if (magic != kMagic)
        return tl::unexpected<Error>(
            cursor.error_at(0, {"magic"},
                            fmt::format("is {}, a GGUF file begins with 'GGUF': give a GGUF file",
                                        in_quotes({reinterpret_cast<const char*>(&magic), 4}))));
    const uint64_t at = cursor.offset();
    KVIK_TRY(const uint32_t version, cursor.number<uint32_t>({"version"}));
    if (version == 2 || version == 3) return version;
    if (version != 0 && (version & 0xffff) == 0)
        return tl::unexpected<Error>(cursor.error_at(
            at, {"version"},
            fmt::format("is {} in big-endian order, kvik reads little-endian files: convert the "
                        "model for little endian",
                        __builtin_bswap32(version)),
            ErrorKind::unsupported));
    return tl::unexpected<Error>(cursor.error_at(
        at, {"version"},
        fmt::format("is {}, kvik reads GGUF versions 2 and 3: convert the model again", version),
        ErrorKind::unsupported));
}

Result<uint64_t> read_alignment(const GgufMetadata& metadata) {
    constexpr std::string_view key = "general.alignment";
    KVIK_TRY(const std::optional<uint64_t> value, metadata.find_integer(key, kAlignmentRange));
    const uint64_t alignment = value.value_or(kDefaultAlignment);
    if (std::has_single_bit(alignment)) return alignment;
    return tl::unexpected<Error>(metadata.error_about(
        key, fmt::format("is {}, it must be a power of two: convert the model again", alignment)));
}

}  // namespace

Result<GgufFile> GgufFile::open(const std::string& path) {
    KVIK_TRY(MappedFile mapping, MappedFile::open(path));
    KVIK_TRY(GgufFile file, from_bytes(mapping.bytes(), path));
    file.mapping_ = std::move(mapping);
    return file;
}

Result<GgufFile> GgufFile::from_bytes(std::span<const std::byte> bytes, std::string_view name) {
    GgufFile file;
    file.bytes_ = bytes;
    KVIK_TRY_VOID(file.read(name));
    return file;
}

Result<void> GgufFile::read(std::string_view name) {
    ByteCursor cursor(bytes_, name);
    KVIK_TRY(version_, read_version(cursor));
    KVIK_TRY(const uint64_t n_tensors, cursor.count({"tensor_count"}, kMaxEntries, kMinInfoBytes));
    KVIK_TRY(const uint64_t n_values,
             cursor.count({"metadata_kv_count"}, kMaxEntries, kMinValueBytes));
    KVIK_TRY(metadata_, GgufMetadata::read(cursor, n_values));
    KVIK_TRY(alignment_, read_alignment(metadata_));

    std::vector<GgufTensorInfo> infos;
    for (uint64_t i = 0; i < n_tensors; ++i) {
        KVIK_TRY(GgufTensorInfo info, read_tensor_info(cursor));
        infos.push_back(std::move(info));
    }
    KVIK_TRY_VOID(place_tensors(cursor, alignment_, infos));
    const auto name_of = [&](uint32_t i) -> std::string_view { return infos[i].entry.name; };
    by_name_ = sorted_index(infos.size(), name_of);
    if (const std::optional<Twins> twins = find_twins(by_name_, name_of))
        return tl::unexpected<Error>(cursor.error_at(
            infos[twins->second].begin, {"name", "tensor", name_of(twins->first)},
            fmt::format("is there already at byte {}: the file is damaged or hostile, fetch it "
                        "again",
                        infos[twins->first].begin)));
    for (GgufTensorInfo& info : infos) tensors_.push_back(std::move(info.entry));
    return {};
}

TensorView GgufFile::view(const TensorEntry& entry) const {
    KVIK_CHECK(entry.offset <= bytes_.size() && entry.n_bytes <= bytes_.size() - entry.offset,
               "an entry belongs to the file that is asked for its bytes");
    return {entry.dtype, entry.shape, bytes_.subspan(entry.offset, entry.n_bytes)};
}

Result<void> GgufFile::read(const TensorEntry& entry, uint64_t begin,
                            std::span<std::byte> to) const {
    KVIK_CHECK(begin <= entry.n_bytes && to.size() <= entry.n_bytes - begin,
               "only bytes of the entry are read");
    if (mapping_) return mapping_->read(entry.offset + begin, to);
    std::memcpy(to.data(), view(entry).bytes.data() + begin, to.size());
    return {};
}

const TensorEntry* GgufFile::find(std::string_view name) const {
    const auto name_of = [&](uint32_t i) -> std::string_view { return tensors_[i].name; };
    const std::optional<uint32_t> at = find_sorted(by_name_, name_of, name);
    return at ? &tensors_[*at] : nullptr;
}

}  // namespace kvik
