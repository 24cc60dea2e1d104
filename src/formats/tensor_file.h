// TensorFile: a file of named tensors, opened read-only. Formats differ, this does not.
//
// Owner   the mapping; views die with it.   Threads  const from any thread.
// Invariant every entry's bytes lie inside the file, its shape's product does not wrap, and a row
//         is whole groups: whoever holds an entry need not check again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tensor/view.h"

namespace kvik {

struct TensorEntry {
    std::string name;
    DType dtype = DType::f32;
    Shape shape;
    uint64_t offset = 0;  // in the file
    uint64_t n_bytes = 0;
};

class TensorFile {
  public:
    virtual ~TensorFile() = default;
    virtual std::span<const TensorEntry> tensors() const = 0;
    virtual TensorView view(const TensorEntry& entry) const = 0;
    // Gives the pages of bytes [begin, begin + n) of the entry back to the kernel after use.
    virtual void release(const TensorEntry& entry, uint64_t begin, uint64_t n_bytes) const = 0;
    virtual const TensorEntry* find(std::string_view name) const = 0;  // null: not there
};

}  // namespace kvik
