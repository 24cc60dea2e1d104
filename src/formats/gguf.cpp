#include "formats/gguf.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <optional>

#include "base/check.h"
#include "base/checked.h"
#include "formats/sorted_index.h"
#include "formats/utf8.h"

namespace kvik {

namespace {

constexpr uint32_t kMagic = 0x46554747;         // "GGUF"
constexpr uint64_t kMaxEntries = 1 << 20;       // keys, and tensors: no model has a hundredth
constexpr uint64_t kMinValueBytes = 8 + 4 + 1;  // key length, type, a byte
constexpr uint64_t kMinInfoBytes =
    8 + 4 + 8 + 4 + 8;  // name length, n_dims, a dimension, type, offset
constexpr uint64_t kDefaultAlignment = 32;
constexpr IntegerRange kAlignmentRange = {8, 1 << 30};
constexpr uint64_t kFirstBytes = 1 << 20;      // of a head that are read at once
constexpr uint64_t kMaxHeadBytes = 512 << 20;  // far beyond what a vocabulary takes
constexpr uint32_t kMaxParts = 4096;           // of a split model
constexpr std::string_view kSplitNoKey = "split.no";
constexpr std::string_view kSplitCountKey = "split.count";
constexpr std::string_view kSplitTensorsKey = "split.tensors.count";

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
            fmt::format("is {} in big-endian order, kvik reads little-endian files: use the "
                        "model's little-endian file, as most are",
                        __builtin_bswap32(version)),
            ErrorKind::unsupported));
    return tl::unexpected<Error>(cursor.error_at(
        at, {"version"},
        fmt::format("is {}, kvik reads GGUF versions 2 and 3: {}", version,
                    version == 1 ? "version 1 is of 2023, convert the model anew from its original"
                                 : "use the model in one of these, or a newer kvik"),
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

// All of a file but its tensor data.
struct Head {
    uint32_t version = 0;
    uint64_t alignment = 0;
    GgufMetadata metadata;
    std::vector<TensorEntry> tensors;
};

Result<Head> read_head(ByteCursor& cursor) {
    Head head;
    KVIK_TRY(head.version, read_version(cursor));
    KVIK_TRY(const uint64_t n_tensors, cursor.count({"tensor_count"}, kMaxEntries, kMinInfoBytes));
    KVIK_TRY(const uint64_t n_values,
             cursor.count({"metadata_kv_count"}, kMaxEntries, kMinValueBytes));
    KVIK_TRY(head.metadata, GgufMetadata::read(cursor, n_values));
    KVIK_TRY(head.alignment, read_alignment(head.metadata));

    std::vector<GgufTensorInfo> infos;
    for (uint64_t i = 0; i < n_tensors; ++i) {
        KVIK_TRY(GgufTensorInfo info, read_tensor_info(cursor));
        infos.push_back(std::move(info));
    }
    KVIK_TRY_VOID(place_tensors(cursor, head.alignment, infos));
    const auto name_of = [&](uint32_t i) -> std::string_view { return infos[i].entry.name; };
    const std::vector<uint32_t> order = sorted_index(infos.size(), name_of);
    if (const auto twins = find_twins(std::span<const uint32_t>(order), name_of))
        return tl::unexpected<Error>(cursor.error_at(
            infos[twins->second].begin, {"name", "tensor", name_of(twins->first)},
            fmt::format("is there already at byte {}: the file is damaged or hostile, fetch it "
                        "again",
                        infos[twins->first].begin)));
    for (GgufTensorInfo& info : infos) head.tensors.push_back(std::move(info.entry));
    return head;
}

// How long a head is shows only when it was read: the first bytes are read, and more where they do
// not reach.
Result<Head> read_head(WeightFile& file) {
    for (uint64_t n_bytes = kFirstBytes;; n_bytes *= 2) {
        KVIK_TRY(const std::span<const std::byte> bytes, file.head(n_bytes));
        ByteCursor cursor(bytes, file.name(), file.n_bytes());
        Result<Head> head = read_head(cursor);
        if (head || cursor.wanted() == 0) return head;
        if (cursor.wanted() > kMaxHeadBytes)
            return fail(ErrorKind::unsupported,
                        fmt::format("{}: the metadata reaches beyond byte {}, which is all that "
                                    "kvik reads: convert the model again without what is so long",
                                    file.name(), kMaxHeadBytes));
        while (n_bytes * 2 < cursor.wanted()) n_bytes *= 2;
    }
}

// Which part of a split model a file is.
struct Split {
    uint32_t part = 0;  // from 0
    uint32_t n_parts = 1;
};

Result<Split> split_of(const GgufMetadata& metadata) {
    KVIK_TRY(const auto n_parts, metadata.find_integer(kSplitCountKey, {0, kMaxParts}));
    if (n_parts.value_or(0) <= 1) return Split{};
    KVIK_TRY(const uint64_t part, metadata.require_integer(kSplitNoKey, {0, *n_parts - 1}));
    return Split{static_cast<uint32_t>(part), static_cast<uint32_t>(*n_parts)};
}

std::string end_of_name(uint32_t part, uint32_t n_parts) {
    return fmt::format("-{:05}-of-{:05}.gguf", part + 1, n_parts);
}

// The file of another part, by the name of this one.
Result<std::string> path_of_part(const std::string& path, const Split& own, uint32_t part) {
    const std::string end = end_of_name(own.part, own.n_parts);
    if (!path.ends_with(end))
        return fail(ErrorKind::file,
                    fmt::format("{}: is part {} of {} of a split model, whose parts are found by "
                                "their names: let its name end in {}",
                                path, own.part + 1, own.n_parts, end));
    return path.substr(0, path.size() - end.size()) + end_of_name(part, own.n_parts);
}

Result<WeightFile> open_part(const std::string& path, const std::string& other, uint32_t part,
                             uint32_t n_parts) {
    Result<WeightFile> file = WeightFile::open(other);
    if (file) return file;
    return fail(file.error().kind, fmt::format("{}: it is part {} of {} of the split model {}, put "
                                               "all of them into one directory",
                                               file.error().message, part + 1, n_parts, path));
}

Result<void> check_part(const GgufMetadata& metadata, uint32_t part, uint32_t n_parts) {
    KVIK_TRY(const Split split, split_of(metadata));
    if (split.part == part && split.n_parts == n_parts) return {};
    return fail(ErrorKind::file,
                fmt::format("{}: says it is part {} of {}, its name says part {} of {}: the parts "
                            "are not of one model, fetch all of them again",
                            metadata.file(), split.part + 1, split.n_parts, part + 1, n_parts));
}

}  // namespace

Result<GgufFile> GgufFile::open(const std::string& path) {
    KVIK_TRY(GgufFile file, open_first_part(path));
    KVIK_TRY(const Split split, split_of(file.metadata_));
    if (split.n_parts > 1) KVIK_TRY_VOID(file.add_parts(split.n_parts));
    return file;
}

Result<GgufFile> GgufFile::open_first_part(const std::string& path) {
    KVIK_TRY(WeightFile opened, WeightFile::open(path));
    KVIK_TRY(GgufFile file, read(std::move(opened)));
    KVIK_TRY(const Split split, split_of(file.metadata_));
    if (split.part == 0) return file;
    KVIK_TRY(const std::string first_path, path_of_part(path, split, 0));
    KVIK_TRY(WeightFile first, open_part(path, first_path, 0, split.n_parts));
    KVIK_TRY(file, read(std::move(first)));
    KVIK_TRY_VOID(check_part(file.metadata_, 0, split.n_parts));
    return file;
}

Result<GgufFile> GgufFile::from_bytes(std::span<const std::byte> bytes, std::string_view name) {
    return read(WeightFile::of_bytes(bytes, std::string(name)));
}

Result<GgufFile> GgufFile::read(WeightFile opened) {
    GgufFile file;
    KVIK_TRY(Head head, read_head(opened));
    file.version_ = head.version;
    file.alignment_ = head.alignment;
    file.metadata_ = std::move(head.metadata);
    file.tensors_ = std::move(head.tensors);
    file.parts_.push_back(std::move(opened));  // what the metadata points to stays where it is
    KVIK_TRY_VOID(file.sort_names());
    return file;
}

Result<void> GgufFile::add_parts(uint32_t n_parts) {
    const std::string path = parts_[0].name();
    for (uint32_t part = 1; part < n_parts; ++part) {
        KVIK_TRY(const std::string other, path_of_part(path, {0, n_parts}, part));
        KVIK_TRY(WeightFile file, open_part(path, other, part, n_parts));
        KVIK_TRY(Head head, read_head(file));
        KVIK_TRY_VOID(check_part(head.metadata, part, n_parts));
        file.forget_head();
        for (TensorEntry& entry : head.tensors) {
            entry.file = part;
            tensors_.push_back(std::move(entry));
        }
        parts_.push_back(std::move(file));
    }
    KVIK_TRY(const auto n_said, metadata_.find_integer(kSplitTensorsKey, {0, UINT32_MAX}));
    if (n_said && *n_said != tensors_.size())
        return tl::unexpected<Error>(metadata_.error_about(
            kSplitTensorsKey, fmt::format("is {}, but the {} parts have {} tensors: they are not "
                                          "of one model, fetch all of them again",
                                          *n_said, n_parts, tensors_.size())));
    return sort_names();
}

Result<void> GgufFile::sort_names() {
    const auto name_of = [&](uint32_t i) -> std::string_view { return tensors_[i].name; };
    by_name_ = sorted_index(tensors_.size(), name_of);
    const auto twins = find_twins(std::span<const uint32_t>(by_name_), name_of);
    if (!twins) return {};
    return fail(ErrorKind::file,
                fmt::format("{}: tensor {} is in {} too: the parts are not of one model, fetch all "
                            "of them again",
                            file_of(tensors_[twins->second]), in_quotes(name_of(twins->first)),
                            file_of(tensors_[twins->first])));
}

uint64_t GgufFile::n_bytes() const {
    uint64_t n_bytes = 0;
    for (const WeightFile& part : parts_) n_bytes += part.n_bytes();
    return n_bytes;
}

const std::string& GgufFile::file_of(const TensorEntry& entry) const {
    KVIK_CHECK(entry.file < parts_.size(), "an entry belongs to the file that is asked about it");
    return parts_[entry.file].name();
}

TensorView GgufFile::view(const TensorEntry& entry) const {
    return {entry.dtype, entry.shape, parts_[entry.file].view(entry.offset, entry.n_bytes)};
}

Result<void> GgufFile::read(const TensorEntry& entry, uint64_t begin,
                            std::span<std::byte> to) const {
    KVIK_CHECK(begin <= entry.n_bytes && to.size() <= entry.n_bytes - begin,
               "only bytes of the entry are read");
    return parts_[entry.file].read(entry.offset + begin, to);
}

const TensorEntry* GgufFile::find(std::string_view name) const {
    const auto name_of = [&](uint32_t i) -> std::string_view { return tensors_[i].name; };
    const std::optional<uint32_t> at = find_sorted(by_name_, name_of, name);
    return at ? &tensors_[*at] : nullptr;
}

namespace {

constexpr uint64_t kMaxNameBytes = 65535;
constexpr uint32_t kMaxDims = 4;

// What GGUF calls its type numbers, so that a refusal can be understood; empty: never given out.
constexpr std::array<std::string_view, 40> kGgufTypeNames = {
    "F32",   "F16",        "Q4_0",       "Q4_1",       "Q4_2",     "Q4_3",     "Q5_0",
    "Q5_1",  "Q8_0",       "Q8_1",       "Q2_K",       "Q3_K",     "Q4_K",     "Q5_K",
    "Q6_K",  "Q8_K",       "IQ2_XXS",    "IQ2_XS",     "IQ3_XXS",  "IQ1_S",    "IQ4_NL",
    "IQ3_S", "IQ2_S",      "IQ4_XS",     "I8",         "I16",      "I32",      "I64",
    "F64",   "IQ1_M",      "BF16",       "Q4_0_4_4",   "Q4_0_4_8", "Q4_0_8_8", "TQ1_0",
    "TQ2_0", "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8", "MXFP4"};

std::string types_read() {
    std::string list;
    for (uint32_t number = 0; number < kGgufTypeNames.size(); ++number)
        if (const std::optional<DType> type = dtype_from_number(number))
            list += fmt::format("{}{}", list.empty() ? "" : ", ", dtype_info(*type).name);
    return list;
}

Result<std::string_view> read_name(ByteCursor& cursor) {
    const uint64_t at = cursor.offset();
    KVIK_TRY(const std::string_view name, cursor.text({"tensor name"}, kMaxNameBytes));
    if (!name.empty() && is_utf8(name)) return name;
    return tl::unexpected<Error>(
        cursor.error_at(at, {"tensor name"},
                        fmt::format("{} is {}: the file is damaged, fetch it again",
                                    in_quotes(name), name.empty() ? "empty" : "not UTF-8")));
}

Result<Shape> read_shape(ByteCursor& cursor, std::string_view name) {
    const Field n_dims_field{"n_dims", "tensor", name};
    const Field dim_field{"dimension", "tensor", name};
    uint64_t at = cursor.offset();
    KVIK_TRY(const uint32_t n_dims, cursor.number<uint32_t>(n_dims_field));
    if (n_dims < 1 || n_dims > kMaxDims)
        return tl::unexpected<Error>(cursor.error_at(
            at, n_dims_field,
            fmt::format("is {}, the range is 1 .. {}: the file is damaged, fetch it again", n_dims,
                        kMaxDims)));
    Shape shape;
    shape.n_dims = n_dims;
    uint64_t n_elements = 1;
    for (uint32_t i = 0; i < n_dims; ++i) {
        at = cursor.offset();
        KVIK_TRY(const uint64_t dim, cursor.number<uint64_t>(dim_field));
        const std::optional<uint64_t> product = checked_mul(n_elements, dim);
        if (dim == 0 || !product)
            return tl::unexpected<Error>(cursor.error_at(
                at, dim_field,
                fmt::format("{} is {}, {}: the file is damaged, fetch it again", i, dim,
                            dim == 0 ? "it must be at least 1"
                                     : "with it the number of elements passes 2^64")));
        n_elements = *product;
        shape.dims[n_dims - 1 - i] = dim;
    }
    return shape;
}

Result<DType> read_dtype(ByteCursor& cursor, std::string_view name) {
    const Field field{"type", "tensor", name};
    const uint64_t at = cursor.offset();
    KVIK_TRY(const uint32_t number, cursor.number<uint32_t>(field));
    if (const std::optional<DType> type = dtype_from_number(number)) return *type;
    const std::string_view known = number < kGgufTypeNames.size() ? kGgufTypeNames[number] : "";
    return tl::unexpected<Error>(cursor.error_at(
        at, field,
        fmt::format("is {}{}, kvik reads {}: take the model in one of these", number,
                    known.empty() ? std::string() : fmt::format(" ({})", known), types_read()),
        ErrorKind::unsupported));
}

// Bytes of the whole tensor: whole groups in a row, and a product that does not wrap.
Result<uint64_t> size_of(const ByteCursor& cursor, uint64_t at, const TensorEntry& entry) {
    const Field field{"size", "tensor", entry.name};
    const DTypeInfo& type = dtype_info(entry.dtype);
    if (entry.shape.n_cols() % type.group_size != 0)
        return tl::unexpected<Error>(cursor.error_at(
            at, {"row", "tensor", entry.name},
            fmt::format("has {} elements, {} has groups of {}: the file is damaged, fetch it again",
                        entry.shape.n_cols(), type.name, type.group_size)));
    const uint64_t n_groups = entry.shape.n_elements() / type.group_size;
    if (const std::optional<uint64_t> n_bytes = checked_mul(n_groups, type.group_bytes))
        return *n_bytes;
    return tl::unexpected<Error>(cursor.error_at(
        at, field,
        fmt::format("{} elements of {} pass 2^64 bytes: the file is damaged, fetch it again",
                    entry.shape.n_elements(), type.name)));
}

Result<void> check_overlaps(const ByteCursor& cursor, const std::vector<GgufTensorInfo>& infos) {
    const std::vector<uint32_t> order =
        sorted_index(infos.size(), [&](uint32_t i) { return infos[i].entry.offset; });
    for (size_t i = 1; i < order.size(); ++i) {
        const TensorEntry& before = infos[order[i - 1]].entry;
        const GgufTensorInfo& info = infos[order[i]];
        if (info.entry.offset < before.offset + before.n_bytes)
            return tl::unexpected<Error>(cursor.error_at(
                info.offset_at, {"offset", "tensor", info.entry.name},
                fmt::format("puts it at byte {}, inside {} (bytes {} .. {}): the file is damaged, "
                            "fetch it again",
                            info.entry.offset, in_quotes(before.name), before.offset,
                            before.offset + before.n_bytes - 1)));
    }
    return {};
}

}  // namespace

Result<GgufTensorInfo> read_tensor_info(ByteCursor& cursor) {
    GgufTensorInfo info;
    info.begin = cursor.offset();
    KVIK_TRY(const std::string_view name, read_name(cursor));
    info.entry.name = name;
    KVIK_TRY(info.entry.shape, read_shape(cursor, name));
    KVIK_TRY(info.entry.dtype, read_dtype(cursor, name));
    KVIK_TRY(info.entry.n_bytes, size_of(cursor, info.begin, info.entry));
    info.offset_at = cursor.offset();
    KVIK_TRY(info.entry.offset, cursor.number<uint64_t>({"offset", "tensor", name}));
    return info;
}

Result<void> place_tensors(const ByteCursor& cursor, uint64_t alignment,
                           std::vector<GgufTensorInfo>& infos) {
    const uint64_t file_bytes = cursor.offset() + cursor.n_left();
    const uint64_t past = cursor.offset() % alignment;
    const uint64_t padding = past == 0 ? 0 : alignment - past;
    if (!infos.empty() && padding > cursor.n_left())
        return tl::unexpected<Error>(cursor.error_at(
            cursor.offset(), {"tensor data"},
            fmt::format("begins {} bytes later, {} bytes remain: the file is cut short, fetch it "
                        "again",
                        padding, cursor.n_left())));
    for (GgufTensorInfo& info : infos) {
        TensorEntry& entry = info.entry;
        const Field field{"offset", "tensor", entry.name};
        if (entry.offset % alignment != 0)
            return tl::unexpected<Error>(cursor.error_at(
                info.offset_at, field,
                fmt::format("is {}, no multiple of the alignment {}: the file is damaged, fetch it "
                            "again",
                            entry.offset, alignment)));
        const uint64_t data_bytes = cursor.n_left() - padding;
        if (entry.offset > data_bytes || entry.n_bytes > data_bytes - entry.offset)
            return tl::unexpected<Error>(cursor.error_at(
                info.offset_at, field,
                fmt::format("is {} and its size {} bytes, the tensor data ends after {} (file of "
                            "{} bytes): the file is cut short, fetch it again",
                            entry.offset, entry.n_bytes, data_bytes, file_bytes)));
        entry.offset += cursor.offset() + padding;
    }
    return check_overlaps(cursor, infos);
}

}  // namespace kvik
