// SafetensorsWriter: builds safetensors bytes and directories for tests.
//
// Use     SafetensorsWriter w; w.f32_tensor("a", {2, 3}, values); w.write_directory(folder);
// Shape   tensors lie in the order of the calls, without gaps; the header is padded to 8 bytes.
// Invariant bytes() is a function of the calls. Lies are told by tensor() and safetensors_bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvik {

// Length, header as it is given, data.
std::vector<std::byte> safetensors_bytes(std::string_view header,
                                         std::span<const std::byte> data = {});

class SafetensorsWriter {
  public:
    // `type` as safetensors names it. Names are written without escapes.
    SafetensorsWriter& tensor(std::string_view name, std::string_view type,
                              const std::vector<uint64_t>& dims, std::span<const std::byte> data);
    SafetensorsWriter& f32_tensor(std::string_view name, const std::vector<uint64_t>& dims,
                                  std::span<const float> values);

    const std::vector<std::string>& names() const { return names_; }
    std::vector<std::byte> bytes() const;
    // false: it could not be written.
    bool write(const std::string& path) const;
    bool write_directory(const std::string& directory) const;  // as its model.safetensors

  private:
    std::vector<std::string> names_;
    std::string header_ = "{\"__metadata__\":{\"format\":\"pt\"}";
    std::vector<std::byte> data_;
};

// model-0000i-of-0000n.safetensors and their index. false: it could not be written.
bool write_shards(const std::string& directory, std::span<const SafetensorsWriter> shards);

}  // namespace kvik
