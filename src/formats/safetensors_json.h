// The JSON of a safetensors header -> tensors as it describes them, offsets from the data's start.
//
// Shape   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}, and perhaps
//         "__metadata__": {"any": "text"}, which is checked and not kept.
// Cost    events of a parser, no tree.
// Errors  as safetensors_header.h; each names the byte in the file where the value begins.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "formats/byte_cursor.h"
#include "formats/safetensors_header.h"

namespace kvik {

// `cursor` stands behind `header`, the bytes just read.
Result<std::vector<SafetensorsInfo>> read_safetensors_json(const ByteCursor& cursor,
                                                           std::span<const std::byte> header);

}  // namespace kvik
