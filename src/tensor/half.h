// IEEE binary16 <-> binary32 in integer arithmetic: the same bits on every machine and under every
// rounding or flush-to-zero mode. Round to nearest even, as F16C's vcvtps2ph does.
#pragma once

#include <bit>
#include <cstdint>

namespace kvik {

inline float half_to_float(uint16_t h) noexcept {
    const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
    const uint32_t exponent = h >> 10 & 31u;
    const uint32_t mantissa = h & 1023u;
    if (exponent == 31)
        return std::bit_cast<float>(sign | 0x7f800000u |
                                    (mantissa ? 0x400000u | mantissa << 13 : 0));
    if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
    if (mantissa == 0) return std::bit_cast<float>(sign);
    const int shift = std::countl_zero(mantissa) - 21;  // brings the leading one to bit 10
    return std::bit_cast<float>(sign | static_cast<uint32_t>(113 - shift) << 23 |
                                (mantissa << shift & 1023u) << 13);
}

inline uint16_t float_to_half(float f) noexcept {
    const uint32_t u = std::bit_cast<uint32_t>(f);
    const uint32_t sign = u >> 16 & 0x8000u;
    const uint32_t a = u & 0x7fffffffu;
    const auto pack = [sign](uint32_t v) { return static_cast<uint16_t>(sign | v); };
    if (a > 0x7f800000u) return pack(0x7e00u | (a >> 13 & 0x3ffu));  // NaN
    if (a >= 0x477ff000u) return pack(0x7c00u);                      // rounds to infinity
    if (a >= 0x38800000u) {                                          // normal
        const uint32_t r = a - 0x38000000u;
        return pack((r + 0xfffu + (r >> 13 & 1u)) >> 13);
    }
    if (a <= 0x33000000u) return pack(0);  // rounds to zero
    const uint32_t mantissa = (a & 0x7fffffu) | 0x800000u;
    const uint32_t shift = 126 - (a >> 23);
    const uint32_t quotient = mantissa >> shift;
    const uint32_t rest = mantissa & ((1u << shift) - 1);
    const uint32_t halfway = 1u << (shift - 1);
    return pack(quotient + (rest > halfway || (rest == halfway && (quotient & 1u)) ? 1u : 0u));
}

}  // namespace kvik
