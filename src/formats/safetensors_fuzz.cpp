// Any bytes as a safetensors file, or as an index with two shards: refused with one line, or read
// to the last byte without a fault.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/check.h"
#include "formats/safetensors.h"

namespace kvik {
namespace {

void check_error(const Error& error) {
    const std::string& message = error.message;
    KVIK_CHECK(error.kind == ErrorKind::file, "what a file says wrong is the file's error");
    KVIK_CHECK(
        std::all_of(message.begin(), message.end(), [](char c) { return c >= 0x20 && c <= 0x7e; }),
        "an error is one printable line");
    KVIK_CHECK(message.size() < 500, "an error is not long");
}

void read_all(const SafetensorsFile& file) {
    uint64_t sum = 0;
    for (const TensorEntry& entry : file.tensors()) {
        KVIK_CHECK(file.find(entry.name) == &entry, "a tensor is found by its name");
        KVIK_CHECK(entry.n_bytes > 0, "a tensor is not empty");
        KVIK_CHECK(entry.n_bytes == dtype_bytes(entry.dtype, entry.shape.n_elements()),
                   "a tensor has the size of its shape");
        for (const std::byte b : file.view(entry).bytes) sum += static_cast<uint64_t>(b);
    }
    for (const SkippedTensor& skipped : file.skipped()) {
        KVIK_CHECK(!file.find(skipped.name), "what is skipped is no entry");
        sum += skipped.why.size();
    }
    volatile uint64_t sink = sum;
    static_cast<void>(sink);
}

void open(std::span<const std::byte> bytes) {
    const auto file = SafetensorsFile::from_bytes({"fuzz", bytes});
    if (file)
        read_all(*file);
    else
        check_error(file.error());
}

// As testing/safetensors_samples.h joins them.
void open_sharded(std::span<const std::byte> bytes) {
    const auto nul = std::find(bytes.begin(), bytes.end(), std::byte{0});
    const auto index = bytes.first(static_cast<size_t>(nul - bytes.begin()));
    auto rest = bytes.subspan(std::min(bytes.size(), index.size() + 1));
    size_t n_bytes_of_a = 0;
    for (unsigned i = 0; i < 2 && !rest.empty(); ++i, rest = rest.subspan(1))
        n_bytes_of_a |= std::to_integer<size_t>(rest[0]) << (8 * i);
    n_bytes_of_a = std::min(n_bytes_of_a, rest.size());
    const std::array<SafetensorsFile::Shard, 2> shards = {
        SafetensorsFile::Shard{"a", rest.first(n_bytes_of_a)},
        SafetensorsFile::Shard{"b", rest.subspan(n_bytes_of_a)}};
    const auto file = SafetensorsFile::from_bytes({"fuzz", index}, shards);
    if (file)
        read_all(*file);
    else
        check_error(file.error());
}

}  // namespace
}  // namespace kvik

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t n_bytes) {
    const auto bytes = std::as_bytes(std::span(data, n_bytes));
    const bool is_index = n_bytes > 0 && data[0] == '{';
    is_index ? kvik::open_sharded(bytes) : kvik::open(bytes);
    return 0;
}
