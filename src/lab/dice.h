// Dice: numbers of a seed, the same on every machine; each stream of a seed has its own.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/philox.h"
#include "base/types.h"

namespace kvik::lab {

class Dice {
  public:
    Dice(uint64_t seed, uint32_t stream)
        : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}, stream_(stream) {}

    uint32_t below(uint32_t n) { return static_cast<uint32_t>(uint64_t{draw()} * n >> 32); }
    uint32_t between(uint32_t least, uint32_t most) { return least + below(most - least + 1); }
    double fraction() { return draw() / 4294967296.0; }  // in [0, 1)
    // A wait whose end has nothing to do with how long it has lasted.
    double waiting(double mean) { return -mean * std::log(1 - fraction()); }
    // n tokens that no other text begins with, or hardly ever.
    std::vector<TokenId> text(uint32_t n) {
        std::vector<TokenId> ids(n);
        for (TokenId& id : ids) id = static_cast<TokenId>(below(kVocabulary));
        return ids;
    }

  private:
    static constexpr uint32_t kVocabulary = 32000;
    uint32_t draw() { return philox4x32({count_++, stream_, 2, 0}, key_)[0]; }

    std::array<uint32_t, 2> key_;
    uint32_t stream_;
    uint32_t count_ = 0;
};

}  // namespace kvik::lab
