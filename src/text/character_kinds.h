// CharacterKinds: characters that no set of an expression tells apart, as one byte each.
//
// Use       of(sets): the kinds that the sets need; kinds_in(i): those that set i holds; spell(text):
//           a byte for each character. An expression over kinds matches where the one over
//           characters does, and needs neither UTF-8 nor a library's character tables.
// Cost      made in about a millisecond; spell about 1 ns a byte of ASCII, 3 ns another character.
// Errors    of: sets that tell more than 256 kinds apart: unsupported.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/code_points.h"

namespace kvik {

class CharacterKinds {
  public:
    static Result<CharacterKinds> of(std::span<const CodePoints> sets);

    const std::vector<uint8_t>& kinds_in(size_t set) const { return kinds_in_[set]; }
    uint8_t kind(uint32_t character) const {
        return pages_[page_of_[character >> 8] * size_t{256} + (character & 0xFF)];
    }
    void spell(std::string_view text, std::string& kinds) const;  // of valid UTF-8

  private:
    void fill(std::span<const uint32_t> begins, std::span<const uint8_t> kinds);

    std::vector<std::vector<uint8_t>> kinds_in_;
    std::vector<uint16_t> page_of_;
    std::vector<uint8_t> pages_;
};

}  // namespace kvik
