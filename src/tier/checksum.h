// Checksum: XXH3-128 with a seed, fed in pieces. It finds what a disk broke; it proves nothing
// against somebody who wants to break it.
//
// Cost    as fast as memory; one allocation each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct XXH3_state_s;

namespace kvik {

using ChecksumValue = std::array<uint64_t, 2>;

class Checksum {
  public:
    explicit Checksum(uint64_t seed);
    void update(std::span<const std::byte> bytes);
    ChecksumValue value() const;

  private:
    struct Free {
        void operator()(XXH3_state_s* state) const noexcept;
    };
    std::unique_ptr<XXH3_state_s, Free> state_;
};

ChecksumValue checksum(uint64_t seed, std::span<const std::byte> bytes);

}  // namespace kvik
