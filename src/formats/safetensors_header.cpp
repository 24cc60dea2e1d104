#include "formats/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "formats/byte_cursor.h"
#include "formats/safetensors_json.h"
#include "formats/sorted_index.h"

namespace kvik {
namespace {

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit

struct ElementType {
    std::string_view name;
    uint32_t bits;
};

constexpr std::array<ElementType, 21> kElementTypes = {{
    {"BOOL", 8},        {"U8", 8},   {"I8", 8},   {"F8_E4M3", 8}, {"F8_E5M2", 8},
    {"F8_E8M0", 8},     {"I16", 16}, {"U16", 16}, {"F16", 16},    {"BF16", 16},
    {"I32", 32},        {"U32", 32}, {"F32", 32}, {"I64", 64},    {"U64", 64},
    {"F64", 64},        {"C64", 64}, {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6},
    {"F8_E4M3FNUZ", 8},
}};

// A type that is not in the table is the business of whoever asks for its tensor.
Result<void> check_size(const ByteCursor& cursor, const SafetensorsInfo& info) {
    const auto* type = std::find_if(kElementTypes.begin(), kElementTypes.end(),
                                    [&](const ElementType& t) { return t.name == info.type; });
    if (type == kElementTypes.end()) return {};
    const Field field{"size", "tensor", info.name};
    const std::optional<uint64_t> n_bits = checked_mul(info.n_elements, type->bits);
    if (!n_bits)
        return tl::unexpected<Error>(cursor.error_at(
            info.begin, field,
            fmt::format("{} elements of {} pass 2^64 bits: the file is damaged, fetch it again",
                        info.n_elements, info.type)));
    if (*n_bits % 8 == 0 && *n_bits / 8 == info.n_bytes) return {};
    return tl::unexpected<Error>(cursor.error_at(
        info.begin, field,
        fmt::format("data_offsets span {} bytes, {} elements of {} take {}: the file is damaged, "
                    "fetch it again",
                    info.n_bytes, info.n_elements, info.type, (*n_bits + 7) / 8)));
}

// Turns offsets into offsets in the file, which end with the data.
Result<void> place(const ByteCursor& cursor, std::vector<SafetensorsInfo>& infos) {
    const uint64_t data_begin = cursor.offset();
    const uint64_t data_bytes = cursor.n_left();
    for (SafetensorsInfo& info : infos) {
        if (info.offset > data_bytes || info.n_bytes > data_bytes - info.offset)
            return tl::unexpected<Error>(cursor.error_at(
                info.begin, {"data_offsets", "tensor", info.name},
                fmt::format("end at {}, the tensor data after {} bytes: the file is cut short or "
                            "damaged, fetch it again",
                            info.offset + info.n_bytes, data_bytes)));
        KVIK_TRY_VOID(check_size(cursor, info));
        info.offset += data_begin;
    }
    return {};
}

Result<void> check_tiling(const ByteCursor& cursor, const std::vector<SafetensorsInfo>& infos) {
    const std::vector<uint32_t> order = sorted_index(
        infos.size(), [&](uint32_t i) { return std::pair(infos[i].offset, infos[i].n_bytes); });
    uint64_t end = cursor.offset();
    std::string_view before = "";
    for (const uint32_t i : order) {
        const SafetensorsInfo& info = infos[i];
        const Field field{"data_offsets", "tensor", info.name};
        if (info.offset < end)
            return tl::unexpected<Error>(cursor.error_at(
                info.begin, field,
                fmt::format("put it at byte {}, inside {} that ends at {}: the file is damaged, "
                            "fetch it again",
                            info.offset, in_quotes(before), end)));
        if (info.offset > end)
            return tl::unexpected<Error>(cursor.error_at(
                info.begin, field,
                fmt::format("put it at byte {}, bytes {} .. {} belong to no tensor: the file is "
                            "damaged, fetch it again",
                            info.offset, end, info.offset - 1)));
        end = info.offset + info.n_bytes;
        before = info.name;
    }
    const uint64_t file_bytes = cursor.offset() + cursor.n_left();
    if (end == file_bytes) return {};
    return tl::unexpected<Error>(cursor.error_at(
        end, {"tensor data"},
        fmt::format("ends, the file has {} bytes more: it is damaged or was not written to its "
                    "end, fetch it again",
                    file_bytes - end)));
}

Result<void> check_names(const ByteCursor& cursor, const std::vector<SafetensorsInfo>& infos) {
    const auto name_of = [&](uint32_t i) -> std::string_view { return infos[i].name; };
    const std::vector<uint32_t> order = sorted_index(infos.size(), name_of);
    const std::optional<Twins> twins = find_twins(std::span<const uint32_t>(order), name_of);
    if (!twins) return {};
    return tl::unexpected<Error>(cursor.error_at(
        infos[twins->second].begin, {"name", "tensor", name_of(twins->first)},
        fmt::format("is there already at byte {}: the file is damaged or hostile, fetch it again",
                    infos[twins->first].begin)));
}

}  // namespace

Result<std::vector<SafetensorsInfo>> read_safetensors_header(WeightFile& file) {
    const Field length{"header length"};
    KVIK_TRY(const std::span<const std::byte> begin, file.head(sizeof(uint64_t)));
    ByteCursor first(begin, file.name(), file.n_bytes());
    KVIK_TRY(const uint64_t n_bytes, first.number<uint64_t>(length));
    const bool is_there = n_bytes <= kMaxHeaderBytes && n_bytes <= first.n_left();
    KVIK_TRY(const std::span<const std::byte> bytes,
             file.head(is_there ? first.offset() + n_bytes : first.offset()));
    ByteCursor cursor(bytes, file.name(), file.n_bytes());
    KVIK_TRY_VOID(cursor.take(length, sizeof(uint64_t)));
    if (n_bytes > kMaxHeaderBytes)
        return tl::unexpected<Error>(cursor.error_at(
            0, length,
            fmt::format("is {} bytes, the limit is {}: it is no safetensors file or damaged, fetch "
                        "it again",
                        n_bytes, kMaxHeaderBytes)));
    if (n_bytes > cursor.n_left())
        return tl::unexpected<Error>(
            cursor.error_at(0, length,
                            fmt::format("is {} bytes, {} bytes remain: the file is cut short, "
                                        "fetch it again",
                                        n_bytes, cursor.n_left())));
    KVIK_TRY(const std::span<const std::byte> header, cursor.take({"header"}, n_bytes));
    KVIK_TRY(std::vector<SafetensorsInfo> infos, read_safetensors_json(cursor, header));
    KVIK_TRY_VOID(check_names(cursor, infos));
    KVIK_TRY_VOID(place(cursor, infos));
    KVIK_TRY_VOID(check_tiling(cursor, infos));
    return infos;
}

}  // namespace kvik
