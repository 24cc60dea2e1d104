#include "testing/gguf_writer.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "base/check.h"
#include "base/checked.h"
#include "base/philox.h"
#include "tensor/half.h"
#include "tensor/quant/q4_1.h"
#include "tensor/quant/q8_0.h"

namespace kvik {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
void append(Bytes& out, T number) {
    const auto raw = std::as_bytes(std::span(&number, 1));
    out.insert(out.end(), raw.begin(), raw.end());
}

void append_text(Bytes& out, std::string_view text) {
    append(out, static_cast<uint64_t>(text.size()));
    const auto raw = std::as_bytes(std::span(text));
    out.insert(out.end(), raw.begin(), raw.end());
}

template <class Group>
void append_group(Bytes& out, const Group& group) {
    const auto raw = std::as_bytes(std::span(&group, 1));
    out.insert(out.end(), raw.begin(), raw.end());
}

// Random group `index` of a tensor: scales so that values are about -scale .. scale.
void append_random_group(Bytes& out, DType dtype, uint64_t index, uint64_t seed, float scale) {
    const auto word = [&](uint32_t i) {
        return philox4x32({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), i, 0},
                          {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)})[0];
    };
    const auto uniform = [&](uint32_t i) {  // -1 .. 1
        return static_cast<float>(static_cast<int32_t>(word(i))) * 0x1p-31f;
    };
    switch (dtype) {
        case DType::f32:
            return append(out, uniform(0) * scale);
        case DType::f16:
            return append(out, float_to_half(uniform(0) * scale));
        case DType::q8_0: {
            Q8_0Group group{float_to_half(scale / 127), {}};
            for (uint32_t k = 0; k < 32; ++k)
                group.q[k] = static_cast<int8_t>(static_cast<int>(word(k) % 255) - 127);
            return append_group(out, group);
        }
        case DType::q4_1: {
            Q4_1Group group{float_to_half(scale * 2 / 15), float_to_half(-scale), {}};
            for (uint32_t k = 0; k < 16; ++k) group.qs[k] = static_cast<uint8_t>(word(k));
            return append_group(out, group);
        }
        default:
            break;
    }
    // Any bits are weights; only the f16 scales must be numbers of the right size.
    const DTypeInfo& info = dtype_info(dtype);
    std::vector<uint8_t> group(info.group_bytes);
    for (uint32_t i = 0; i < group.size(); ++i) group[i] = static_cast<uint8_t>(word(i));
    const auto put_half = [&group](size_t at, float v) {
        const uint16_t half = float_to_half(v);
        std::memcpy(group.data() + at, &half, sizeof half);
    };
    switch (dtype) {
        case DType::q4_0:
        case DType::iq4_nl:
            put_half(0, scale / (dtype == DType::q4_0 ? 8 : 127));
            break;
        case DType::q5_0:
            put_half(0, scale / 16);
            break;
        case DType::q5_1:
            put_half(0, scale * 2 / 31);
            put_half(2, -scale);
            break;
        case DType::q4_k:
        case DType::q5_k:
            put_half(0, scale / (dtype == DType::q4_k ? 15 * 63 : 31 * 63));
            put_half(2, scale / 63);
            break;
        case DType::q2_k:
            put_half(80, scale / 45);
            put_half(82, scale / 15);
            break;
        case DType::q3_k:
            put_half(108, scale / (4 * 32));
            break;
        case DType::q6_k:
            put_half(208, scale / (32 * 127));
            break;
        case DType::bf16:
            group[0] = 0;
            group[1] = static_cast<uint8_t>(0x3c | (word(1) & 0x80));
            break;
        default:
            KVIK_CHECK(false, "random_tensor knows every dtype of the table");
    }
    for (const uint8_t byte : group) out.push_back(std::byte{byte});
}

}  // namespace

std::vector<std::byte> nested_array(uint32_t depth) {
    Bytes payload;
    for (uint32_t level = 1; level <= depth; ++level) {
        append(payload, level == depth ? GgufType::i32 : GgufType::array);
        append(payload, uint64_t{1});
    }
    append(payload, int32_t{7});
    return payload;
}

GgufWriter& GgufWriter::put(std::string_view key, GgufType type,
                            std::span<const std::byte> payload) {
    append_text(metadata_, key);
    append(metadata_, static_cast<uint32_t>(type));
    metadata_.insert(metadata_.end(), payload.begin(), payload.end());
    ++n_values_;
    return *this;
}

GgufWriter& GgufWriter::put_array(std::string_view key, GgufType type, uint64_t n,
                                  std::span<const std::byte> payload) {
    Bytes value;
    append(value, static_cast<uint32_t>(type));
    append(value, n);
    value.insert(value.end(), payload.begin(), payload.end());
    return put(key, GgufType::array, value);
}

GgufWriter& GgufWriter::set(std::string_view key, std::string_view text) {
    Bytes value;
    append_text(value, text);
    return put(key, GgufType::string, value);
}

GgufWriter& GgufWriter::set_strings(std::string_view key, std::span<const std::string> strings) {
    Bytes payload;
    for (const std::string& text : strings) append_text(payload, text);
    return put_array(key, GgufType::string, strings.size(), payload);
}

GgufWriter& GgufWriter::tensor(GgufTensor tensor) {
    tensors_.push_back(std::move(tensor));
    return *this;
}

GgufWriter& GgufWriter::f32_tensor(std::string_view name, std::vector<uint64_t> dims,
                                   std::span<const float> values) {
    const auto raw_values = std::as_bytes(values);
    return tensor({std::string(name), static_cast<uint32_t>(DType::f32), std::move(dims),
                   Bytes(raw_values.begin(), raw_values.end())});
}

GgufWriter& GgufWriter::random_tensor(std::string_view name, DType dtype,
                                      std::vector<uint64_t> dims, uint64_t seed, float scale) {
    uint64_t n_elements = 1;
    for (const uint64_t dim : dims) n_elements *= dim;
    const uint32_t group_size = dtype_info(dtype).group_size;
    KVIK_CHECK(!dims.empty() && dims.back() % group_size == 0, "a row is whole groups");
    Bytes data;
    for (uint64_t g = 0; g < n_elements / group_size; ++g)
        append_random_group(data, dtype, g, seed, scale);
    return tensor(
        {std::string(name), static_cast<uint32_t>(dtype), std::move(dims), std::move(data)});
}

std::vector<std::byte> GgufWriter::bytes() const {
    Bytes out;
    append(out, uint32_t{0x46554747});  // "GGUF"
    append(out, version_);
    append(out, static_cast<uint64_t>(tensors_.size()));
    append(out, n_values_);
    out.insert(out.end(), metadata_.begin(), metadata_.end());
    uint64_t offset = 0;
    for (const GgufTensor& t : tensors_) {
        append_text(out, t.name);
        append(out, static_cast<uint32_t>(t.dims.size()));
        std::for_each(t.dims.rbegin(), t.dims.rend(), [&](uint64_t dim) { append(out, dim); });
        append(out, t.type);
        append(out, t.offset.value_or(offset));
        offset = round_up(offset + t.data.size(), alignment);
    }
    for (const GgufTensor& t : tensors_) {
        out.resize(round_up(out.size(), alignment));
        out.insert(out.end(), t.data.begin(), t.data.end());
    }
    return out;
}

bool GgufWriter::write(const std::string& path) const {
    const Bytes all = bytes();
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(all.size()));
    return file.good();
}

}  // namespace kvik
