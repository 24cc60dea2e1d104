#include "sample/noise.h"

#include <bit>

#include "base/exact_math.h"
#include "base/philox.h"

namespace kvik {

uint32_t noise_bits(const NoiseKey& key, TokenId token) noexcept {
    return philox4x32({key.position, static_cast<uint32_t>(token), key.sample_index, 0},
                      {static_cast<uint32_t>(key.seed), static_cast<uint32_t>(key.seed >> 32)})[0];
}

double gumbel(uint32_t bits) noexcept {
    const double u = (static_cast<double>(bits) + 0.5) * 0x1p-32;
    return -exact_log(-exact_log(u));
}

// -log u >= 1 - u, so g <= -log(1 - u); and 1 - u = (~bits + 0.5) * 2^-32 >= 2^-(z + 1), z being
// the leading zeros of ~bits. So g <= (z + 1) log 2; log 2 is rounded up past exact_log's error.
double gumbel_bound(uint32_t bits) noexcept {
    constexpr double kLog2Up = 0.69314719;
    return (std::countl_zero(~bits) + 1) * kLog2Up;
}

}  // namespace kvik
