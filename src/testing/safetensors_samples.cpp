#include "testing/safetensors_samples.h"

#include <array>
#include <span>

#include "testing/safetensors_writer.h"

namespace kvik {
namespace {

using Bytes = std::vector<std::byte>;

Bytes every_type() {
    SafetensorsWriter w;
    w.tensor("f32", "F32", {2, 3}, Bytes(24)).tensor("f16", "F16", {1, 2, 1, 2}, Bytes(8));
    w.tensor("bf16", "BF16", {3}, Bytes(6)).tensor("number", "F32", {}, Bytes(4));
    w.tensor("mask", "BOOL", {1, 1, 2, 2}, Bytes(4)).tensor("ids", "I64", {1}, Bytes(8));
    w.tensor("nibbles", "F4", {4}, Bytes(2)).tensor("empty", "F32", {0, 4}, {});
    w.tensor("deep", "F16", {1, 1, 1, 1, 1}, Bytes(2)).tensor("new", "F7", {9}, Bytes(3));
    return w.bytes();
}

Bytes unusual() {
    return safetensors_bytes(
        R"({ "b" : {"data_offsets" : [4 , 8], "shape": [ ] ,"dtype":"F32"},
 "\u0061\ud83d\ude00":{"shape":[1],"dtype":"F32","data_offsets":[0,4]}, "__metadata__":{} }   )",
        Bytes(8));
}

Bytes join(std::string_view index, std::span<const std::byte> a, std::span<const std::byte> b) {
    const auto text = std::as_bytes(std::span(index));
    Bytes bytes(text.begin(), text.end());
    bytes.push_back({});
    bytes.push_back(static_cast<std::byte>(a.size() & 0xff));
    bytes.push_back(static_cast<std::byte>(a.size() >> 8));
    bytes.insert(bytes.end(), a.begin(), a.end());
    bytes.insert(bytes.end(), b.begin(), b.end());
    return bytes;
}

}  // namespace

std::vector<SafetensorsSample> safetensors_samples() {
    const Bytes plain = SafetensorsWriter()
                            .f32_tensor("wte", {2, 2}, std::array{1.f, 2.f, 3.f, 4.f})
                            .f32_tensor("ln.bias", {1}, std::array{5.f})
                            .bytes();
    return {{"plain", plain},
            {"every_type", every_type()},
            {"unusual", unusual()},
            {"nothing", safetensors_bytes("{}")}};
}

std::vector<SafetensorsSample> sharded_samples() {
    const Bytes a = SafetensorsWriter().f32_tensor("x", {1}, std::array{1.f}).bytes();
    const Bytes b = SafetensorsWriter()
                        .f32_tensor("y", {2}, std::array{2.f, 3.f})
                        .tensor("ids", "I32", {1}, Bytes(4))
                        .bytes();
    const std::string_view two =
        R"({"metadata":{"total_size":16},"weight_map":{"x":"a","y":"b","ids":"b"}})";
    return {{"two_shards", join(two, a, b)},
            {"one_shard", join(R"({"weight_map":{"x":"a"}})", a, {})},
            {"no_shard", join(R"({"weight_map":{}})", {}, {})}};
}

}  // namespace kvik
