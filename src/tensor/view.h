// TensorView: borrowed bytes with a type and a row-major shape (last index fastest).
//
// Owner  nobody: the bytes belong to a file or an arena that outlives the view.
// Cost   trivially copyable; never converts, never allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace kvik {

struct Shape {
    std::array<uint64_t, 4> dims = {1, 1, 1, 1};  // row-major; dims[n_dims - 1] is the fastest
    uint32_t n_dims = 0;

    // Elements of a row (the fastest dimension) and the number of rows. Products were checked where
    // the shape was read.
    uint64_t n_cols() const { return n_dims == 0 ? 1 : dims[n_dims - 1]; }
    uint64_t n_rows() const {
        uint64_t n = 1;
        for (uint32_t i = 0; i + 1 < n_dims; ++i) n *= dims[i];
        return n;
    }
    uint64_t n_elements() const { return n_rows() * n_cols(); }
    bool operator==(const Shape&) const = default;
};

struct TensorView {
    DType dtype = DType::f32;
    Shape shape;
    std::span<const std::byte> bytes;

    const uint8_t* data() const { return reinterpret_cast<const uint8_t*>(bytes.data()); }
};

}  // namespace kvik
