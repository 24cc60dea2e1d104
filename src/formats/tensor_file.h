// TensorFile: a file of named tensors, or several that are one model, opened read-only. Formats
// differ, this does not.
//
// Owner   the files; views and entries die with it.   Threads  const from any thread.
// Invariant every entry's bytes lie inside its file, its shape's product does not wrap and is not
//         zero, and a row is whole groups: whoever holds an entry need not check again. Where the
//         bytes lie is not aligned to anything.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tensor/view.h"

namespace kvik {

struct TensorEntry {
    std::string name;
    DType dtype = DType::f32;
    Shape shape;
    uint64_t offset = 0;  // in its file
    uint64_t n_bytes = 0;
    uint32_t file = 0;  // which of the model's files
};

// A tensor that is in the file and not among its entries: what an entry cannot say of it.
struct SkippedTensor {
    std::string name;
    std::string why;      // "is of type 'I64', kvik computes with F32, F16 and BF16"
    uint64_t offset = 0;  // in its file
    std::string file;     // its name, for messages
    // false: of integers or booleans (masks, positions) or without elements; no layer's weights.
    bool could_matter = true;
};

class TensorFile {
  public:
    virtual ~TensorFile() = default;
    virtual std::span<const TensorEntry> tensors() const = 0;
    // The name of the file that holds it, for messages.
    virtual const std::string& file_of(const TensorEntry& entry) const = 0;
    virtual TensorView view(const TensorEntry& entry) const = 0;
    // Copies bytes [begin, begin + to.size()) of the entry. The way to read weights: a file that is
    // cut meanwhile is an error, where a view of it would end the process.
    virtual Result<void> read(const TensorEntry& entry, uint64_t begin,
                              std::span<std::byte> to) const = 0;
    virtual const TensorEntry* find(std::string_view name) const = 0;  // null: not there
    // Ascending by name: for whoever misses a tensor, or must know all that a file holds.
    virtual std::span<const SkippedTensor> skipped() const { return {}; }
};

}  // namespace kvik
