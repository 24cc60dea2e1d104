// Replaces operator new of a test binary by one that counts: include it in one .cpp of the binary.
// Only the thread that asks is counted, and only while a CountedBytes lives.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>

static thread_local bool counts_bytes = false;
static thread_local uint64_t n_bytes_counted = 0;

[[gnu::noinline]] void* operator new(std::size_t n_bytes, const std::nothrow_t&) noexcept {
    if (counts_bytes) n_bytes_counted += n_bytes;
    return std::malloc(n_bytes > 0 ? n_bytes : 1);
}
[[gnu::noinline]] void* operator new(std::size_t n_bytes) {
    if (void* memory = operator new(n_bytes, std::nothrow)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace kvik {

class CountedBytes {
  public:
    CountedBytes() {
        n_bytes_counted = 0;
        counts_bytes = true;
    }
    ~CountedBytes() { counts_bytes = false; }
    // Asked for so far, given back or not.
    uint64_t total() const { return n_bytes_counted; }
};

}  // namespace kvik
