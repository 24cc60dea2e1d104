#include "hub/content_check.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "base/check.h"

namespace kvik::hub {
namespace {

constexpr size_t kSha256Digits = 64, kSha1Digits = 40;

}  // namespace

struct ContentCheck::State {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    ~State() { EVP_MD_CTX_free(context); }
};

ContentCheck::ContentCheck(std::string expected, uint64_t n_bytes)
    : expected_(std::move(expected)), state_(std::make_unique<State>()) {
    const bool is_git = expected_.size() == kSha1Digits;
    KVIK_CHECK(
        state_->context != nullptr &&
            EVP_DigestInit_ex(state_->context, is_git ? EVP_sha1() : EVP_sha256(), nullptr) == 1,
        "OpenSSL has SHA-256 and SHA-1");
    if (!is_git) return;
    std::string header = fmt::format("blob {}", n_bytes);
    header.push_back('\0');
    update(std::as_bytes(std::span(header)));
}
ContentCheck::ContentCheck(ContentCheck&&) noexcept = default;
ContentCheck& ContentCheck::operator=(ContentCheck&&) noexcept = default;
ContentCheck::~ContentCheck() = default;

bool ContentCheck::is_checksum(const std::string& text) {
    return (text.size() == kSha256Digits || text.size() == kSha1Digits) &&
           text.find_first_not_of("0123456789abcdef") == text.npos;
}

void ContentCheck::update(std::span<const std::byte> bytes) {
    KVIK_CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1,
               "a digest takes any bytes");
}

std::string ContentCheck::finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
    unsigned n_bytes = 0;
    KVIK_CHECK(EVP_DigestFinal_ex(state_->context, digest.data(), &n_bytes) == 1,
               "a digest can be finished");
    std::string out;
    for (unsigned i = 0; i < n_bytes; ++i) out += fmt::format("{:02x}", digest[i]);
    return out;
}

}  // namespace kvik::hub
