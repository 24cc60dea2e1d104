#include "base/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <xxhash.h>

#include <array>

#include "base/check.h"

namespace kvik {

struct Sha256::State {
    EVP_MD_CTX* ctx = EVP_MD_CTX_new();
    ~State() { EVP_MD_CTX_free(ctx); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
    KVIK_CHECK(state_->ctx && EVP_DigestInit_ex(state_->ctx, EVP_sha256(), nullptr) == 1,
               "OpenSSL has SHA-256");
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) {
    KVIK_CHECK(EVP_DigestUpdate(state_->ctx, bytes.data(), bytes.size()) == 1,
               "a digest takes any bytes");
}

std::string Sha256::hex() const {
    State copy;
    std::array<unsigned char, 32> digest = {};
    KVIK_CHECK(copy.ctx && EVP_MD_CTX_copy_ex(copy.ctx, state_->ctx) == 1 &&
                   EVP_DigestFinal_ex(copy.ctx, digest.data(), nullptr) == 1,
               "a digest can be finished");
    std::string out;
    for (const unsigned char byte : digest) out += fmt::format("{:02x}", byte);
    return out;
}

Sha256 Sha256::copy() const {
    Sha256 twin;
    KVIK_CHECK(EVP_MD_CTX_copy_ex(twin.state_->ctx, state_->ctx) == 1, "a digest can be copied");
    return twin;
}

std::string xxh3_128_hex(std::span<const std::byte> bytes) {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace kvik
