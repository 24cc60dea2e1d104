#include "cli/npy.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace kvik::cli {

static_assert(std::endian::native == std::endian::little, "rows are written as they lie");

std::string npy_header(uint64_t n_rows, uint64_t n_columns) {
    using namespace std::string_literals;
    std::string text = fmt::format(
        "{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", n_rows, n_columns);
    constexpr size_t kBefore = 10;  // magic, version, length
    const size_t n_bytes = (kBefore + text.size() + 1 + 63) / 64 * 64;
    text.resize(n_bytes - kBefore - 1, ' ');
    text += '\n';
    const auto length = static_cast<uint16_t>(text.size());
    std::string header = "\x93NUMPY\x01\x00"s;
    header += static_cast<char>(length & 0xff);
    header += static_cast<char>(length >> 8);
    return header + text;
}

Result<NpyWriter> NpyWriter::create(std::string path, uint64_t n_rows, uint64_t n_columns) {
    std::FILE* file = std::fopen(path.c_str(), "wbe");
    if (file == nullptr)
        return fail(ErrorKind::file, fmt::format("{}: {}", path, std::strerror(errno)));
    NpyWriter writer(std::move(path), n_rows, n_columns, file);
    const std::string header = npy_header(n_rows, n_columns);
    if (std::fwrite(header.data(), 1, header.size(), file) != header.size())
        return writer.failure();
    return writer;
}

NpyWriter::~NpyWriter() {
    if (!file_) return;
    struct stat status {};
    const bool is_file = ::fstat(::fileno(file_.get()), &status) == 0 && S_ISREG(status.st_mode);
    file_.reset();
    if (is_file) ::unlink(path_.c_str());
}

tl::unexpected<Error> NpyWriter::failure() const {
    return fail(ErrorKind::file, fmt::format("{}: {}", path_, std::strerror(errno)));
}

Result<void> NpyWriter::append(std::span<const float> row) {
    KVIK_CHECK(row.size() == n_columns_, "a row has the matrix's columns");
    if (std::fwrite(row.data(), sizeof(float), row.size(), file_.get()) != row.size())
        return failure();
    ++n_written_;
    return {};
}

Result<void> NpyWriter::finish() {
    if (n_written_ != n_rows_)
        return fail(ErrorKind::file, fmt::format("{}: {} of {} rows were written: the file is "
                                                 "removed",
                                                 path_, n_written_, n_rows_));
    if (std::fflush(file_.get()) != 0) return failure();
    file_.reset();
    return {};
}

}  // namespace kvik::cli
