#include "tier/checksum.h"

#include <xxhash.h>

#include "base/check.h"

namespace kvik {

void Checksum::Free::operator()(XXH3_state_s* state) const noexcept {
    XXH3_freeState(state);
}

Checksum::Checksum(uint64_t seed) : state_(XXH3_createState()) {
    KVIK_CHECK(state_ && XXH3_128bits_reset_withSeed(state_.get(), seed) == XXH_OK,
               "there is memory for a checksum");
}

void Checksum::update(std::span<const std::byte> bytes) {
    XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
}

ChecksumValue Checksum::value() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return {hash.low64, hash.high64};
}

ChecksumValue checksum(uint64_t seed, std::span<const std::byte> bytes) {
    const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
    return {hash.low64, hash.high64};
}

}  // namespace kvik
