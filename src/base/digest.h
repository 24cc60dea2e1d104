// Digests: SHA-256 for identities that go out (logits hash, fingerprints), XXH3-128 for speed.
//
// Owner   a Sha256 owns its state; it is movable and may be fed in pieces.
// Cost    SHA-256 about 2 GB/s where the CPU has SHA instructions; XXH3 over 10 GB/s.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace kvik {

class Sha256 {
  public:
    Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;
    ~Sha256();
    void update(std::span<const std::byte> bytes);
    std::string hex() const;  // of what was fed so far; feeding may go on
    Sha256 copy() const;      // goes its own way from here on

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// 32 hex digits.
std::string xxh3_128_hex(std::span<const std::byte> bytes);

}  // namespace kvik
