#include "testing/safetensors_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <fstream>

namespace kvik {
namespace {

bool write_file(const std::string& path, std::span<const std::byte> bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    file.close();
    return !file.fail();
}

}  // namespace

std::vector<std::byte> safetensors_bytes(std::string_view header, std::span<const std::byte> data) {
    const uint64_t n = header.size();
    std::vector<std::byte> out(sizeof n + header.size() + data.size());
    std::memcpy(out.data(), &n, sizeof n);
    std::memcpy(out.data() + sizeof n, header.data(), header.size());
    if (!data.empty()) std::memcpy(out.data() + sizeof n + n, data.data(), data.size());
    return out;
}

SafetensorsWriter& SafetensorsWriter::tensor(std::string_view name, std::string_view type,
                                             const std::vector<uint64_t>& dims,
                                             std::span<const std::byte> data) {
    names_.emplace_back(name);
    header_ += fmt::format(R"(,"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", name,
                           type, fmt::join(dims, ","), data_.size(), data_.size() + data.size());
    data_.insert(data_.end(), data.begin(), data.end());
    return *this;
}

SafetensorsWriter& SafetensorsWriter::f32_tensor(std::string_view name,
                                                 const std::vector<uint64_t>& dims,
                                                 std::span<const float> values) {
    return tensor(name, "F32", dims, std::as_bytes(values));
}

std::vector<std::byte> SafetensorsWriter::bytes() const {
    std::string header = header_ + "}";
    while (header.size() % 8 != 0) header += ' ';
    return safetensors_bytes(header, data_);
}

bool SafetensorsWriter::write(const std::string& path) const {
    return write_file(path, bytes());
}

bool SafetensorsWriter::write_directory(const std::string& directory) const {
    return write(directory + "/model.safetensors");
}

bool write_shards(const std::string& directory, std::span<const SafetensorsWriter> shards) {
    std::string map;
    for (size_t i = 0; i < shards.size(); ++i) {
        const std::string file =
            fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
        if (!shards[i].write(directory + "/" + file)) return false;
        for (const std::string& name : shards[i].names())
            map += fmt::format("{}\"{}\":\"{}\"", map.empty() ? "" : ",", name, file);
    }
    const std::string index =
        fmt::format(R"({{"metadata":{{"total_size":0}},"weight_map":{{{}}}}})", map);
    return write_file(directory + "/model.safetensors.index.json", std::as_bytes(std::span(index)));
}

}  // namespace kvik
