// Arena: one large zero-filled piece of memory on huge pages where the kernel gives them.
//
// Owner   the mapping.  Cost  taken at open; pages become resident when touched.
// Errors  out of address space or memory: ErrorKind::memory with the size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace kvik {

class Arena {
  public:
    // `what` names the arena in an error ("weights", "KV cache"), `remedy` what to do then.
    static Result<Arena> reserve(uint64_t n_bytes, std::string_view what,
                                 std::string_view remedy = "free some memory first");
    Arena() = default;
    Arena(Arena&& other) noexcept;
    Arena& operator=(Arena&& other) noexcept;
    ~Arena();

    std::byte* data() const { return data_; }  // 64-byte aligned at least
    uint64_t n_bytes() const { return n_bytes_; }

  private:
    std::byte* data_ = nullptr;
    uint64_t n_bytes_ = 0;
};

}  // namespace kvik
