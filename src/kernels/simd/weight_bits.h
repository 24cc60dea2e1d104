// How wide a weight is where it meets an activation: it decides how sums of byte products stay exact.
#pragma once

namespace kvik {

enum class WeightBits {
    three,  // 0 .. 7
    four,   // 0 .. 15
    five,   // 0 .. 31
    six,    // 0 .. 63
    eight,  // 0 .. 255 around a zero point of 128
};

}  // namespace kvik
