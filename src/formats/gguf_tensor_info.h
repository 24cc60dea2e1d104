// Tensor infos of a GGUF file: bytes -> TensorEntry, each law checked before its number is used.
//
// Cost    one pass; then a sort by offset to find overlaps.
// Errors  as gguf.h.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "formats/byte_cursor.h"
#include "formats/tensor_file.h"

namespace kvik {

// An entry and where the file speaks of it. entry.offset counts from the start of the tensor data
// until place_tensors has run.
struct GgufTensorInfo {
    TensorEntry entry;
    uint64_t begin = 0;      // byte where its info begins
    uint64_t offset_at = 0;  // byte of its offset field
};

Result<GgufTensorInfo> read_tensor_info(ByteCursor& cursor);

// Turns offsets into offsets in the file. `cursor` stands behind the last info.
Result<void> place_tensors(const ByteCursor& cursor, uint64_t alignment,
                           std::vector<GgufTensorInfo>& infos);

}  // namespace kvik
