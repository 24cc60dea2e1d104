// Header of a safetensors file: bytes -> what it says of each tensor, each law checked before its
// number is used.
//
// Shape   u64 length of the header | JSON, perhaps padded with spaces | tensor data to the end.
// Cost    one pass over the JSON, without a tree: memory is what the tensors and their names take.
// Invariant names are unique, UTF-8, not empty; the tensors tile the data: none overlaps another,
//         no byte between or behind them belongs to none.
// Errors  ErrorKind::file: the file, the field and its tensor, the byte in the file, the remedy.
// Source  the safetensors format, README of its reference implementation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/byte_cursor.h"
#include "formats/weight_file.h"

namespace kvik {

struct SafetensorsInfo {
    std::string name;
    std::string type;                   // as the file has it: "BF16"
    std::array<uint64_t, 4> dims = {};  // the first four, row-major
    uint64_t n_dims = 0;                // all of them
    uint64_t n_elements = 1;
    uint64_t offset = 0;  // in the file
    uint64_t n_bytes = 0;
    uint64_t begin = 0;  // byte where its description begins
};

// In the header's order. Reads the head of the file and no more.
Result<std::vector<SafetensorsInfo>> read_safetensors_header(WeightFile& file);

// ----
// The JSON of a safetensors header -> tensors as it describes them, offsets from the data's start.
//
// Shape   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}, and perhaps
//         "__metadata__": {"any": "text"}, which is checked and not kept.
// Cost    events of a parser, no tree.
// Errors  as safetensors_header.h; each names the byte in the file where the value begins.

// `cursor` stands behind `header`, the bytes just read.
Result<std::vector<SafetensorsInfo>> read_safetensors_json(const ByteCursor& cursor,
                                                           std::span<const std::byte> header);

}  // namespace kvik
