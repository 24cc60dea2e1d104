#include "formats/gguf_tensor_info.h"

#include <fmt/format.h>

#include <array>

#include "base/checked.h"
#include "formats/sorted_index.h"
#include "formats/utf8.h"

namespace kvik {
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
