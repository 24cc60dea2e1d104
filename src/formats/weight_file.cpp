#include "formats/weight_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace kvik {

Result<WeightFile> WeightFile::open(const std::string& path) {
    KVIK_TRY(MappedFile mapped, MappedFile::open(path));
    WeightFile file;
    file.name_ = path;
    file.n_bytes_ = mapped.bytes().size();
    file.file_ = std::move(mapped);
    return file;
}

WeightFile WeightFile::of_bytes(std::span<const std::byte> bytes, std::string name) {
    WeightFile file;
    file.name_ = std::move(name);
    file.n_bytes_ = bytes.size();
    file.bytes_ = bytes;
    return file;
}

Result<std::span<const std::byte>> WeightFile::head(uint64_t n_bytes) {
    if (!file_) return bytes_;
    const uint64_t n = std::min(n_bytes, n_bytes_), n_read = head_.size();
    if (n > n_read) {
        head_.resize(n);
        KVIK_TRY_VOID(file_->read(n_read, std::span(head_).subspan(n_read)));
    }
    return std::span<const std::byte>(head_);
}

std::span<const std::byte> WeightFile::view(uint64_t offset, uint64_t n_bytes) const {
    const std::span<const std::byte> all = file_ ? file_->bytes() : bytes_;
    KVIK_CHECK(offset <= all.size() && n_bytes <= all.size() - offset,
               "only bytes of the file are looked at");
    return all.subspan(offset, n_bytes);
}

Result<void> WeightFile::read(uint64_t offset, std::span<std::byte> to) const {
    if (file_) return file_->read(offset, to);
    std::memcpy(to.data(), view(offset, to.size()).data(), to.size());
    return {};
}

}  // namespace kvik
