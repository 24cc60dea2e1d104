#include "base/arena.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace kvik {

Result<Arena> Arena::reserve(uint64_t n_bytes, std::string_view what, std::string_view remedy) {
    Arena arena;
    if (n_bytes == 0) return arena;
    void* data = ::mmap(nullptr, n_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED)
        return fail(ErrorKind::memory, fmt::format("cannot reserve {:.1f} MiB for the {}: {}: {}",
                                                   static_cast<double>(n_bytes) / (1 << 20), what,
                                                   std::strerror(errno), remedy));
    ::madvise(data, n_bytes, MADV_HUGEPAGE);  // a wish: without it the arena works just as well
    arena.data_ = static_cast<std::byte*>(data);
    arena.n_bytes_ = n_bytes;
    return arena;
}

Arena::Arena(Arena&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), n_bytes_(std::exchange(other.n_bytes_, 0)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(n_bytes_, other.n_bytes_);
    return *this;
}

Arena::~Arena() {
    if (data_) ::munmap(data_, n_bytes_);
}

}  // namespace kvik
