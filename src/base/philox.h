// Philox4x32-10: a counter-based generator. The same (key, counter) gives the same numbers, in any
// order and on any thread: sampling noise is a function of (seed, position, token, sample).
//
// Source  Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3",
// section 3.
#pragma once

#include <array>
#include <cstdint>

namespace kvik {

inline std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                          std::array<uint32_t, 2> key) noexcept {
    for (int round = 0; round < 10; ++round) {
        const uint64_t a = 0xD2511F53ull * counter[0];
        const uint64_t b = 0xCD9E8D57ull * counter[2];
        counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
                   static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
        key[0] += 0x9E3779B9u;
        key[1] += 0xBB67AE85u;
    }
    return counter;
}

}  // namespace kvik
