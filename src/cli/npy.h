// NpyWriter: a matrix of f32 in NumPy's file format, a row at a time.
//
// Shape   NPY 1.0, '<f4', C order, [n_rows, n_columns].
// Owner   the file; it is removed again unless finish() succeeds.
// Errors  ErrorKind::file naming the path: cannot be made, no space, or rows missing at finish().
// Source  numpy.lib.format, version 1.0.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace kvik::cli {

// The header that comes before the data: a multiple of 64 bytes.
std::string npy_header(uint64_t n_rows, uint64_t n_columns);

class NpyWriter {
  public:
    static Result<NpyWriter> create(std::string path, uint64_t n_rows, uint64_t n_columns);
    NpyWriter(NpyWriter&&) noexcept = default;
    NpyWriter& operator=(NpyWriter&&) = delete;
    ~NpyWriter();

    Result<void> append(std::span<const float> row);  // [n_columns]
    Result<void> finish();

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    NpyWriter(std::string path, uint64_t n_rows, uint64_t n_columns, std::FILE* file)
        : path_(std::move(path)), n_rows_(n_rows), n_columns_(n_columns), file_(file) {}
    tl::unexpected<Error> failure() const;

    std::string path_;
    uint64_t n_rows_, n_columns_;
    uint64_t n_written_ = 0;
    std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace kvik::cli
