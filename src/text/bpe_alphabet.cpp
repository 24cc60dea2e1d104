#include "text/bpe_alphabet.h"

#include <array>

namespace kvik {
namespace {

constexpr bool spells_itself(uint32_t byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr uint32_t kNoByte = 256;

struct Alphabet {
    std::array<uint16_t, 256> character{};  // byte -> code point
    std::array<uint16_t, 0x144> byte{};     // code point -> byte or kNoByte
};

constexpr Alphabet make_alphabet() {
    Alphabet alphabet;
    alphabet.byte.fill(kNoByte);
    uint16_t next = 0x100;
    for (uint16_t b = 0; b < 256; ++b) {
        alphabet.character[b] = spells_itself(b) ? b : next++;
        alphabet.byte[alphabet.character[b]] = b;
    }
    return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();
static_assert(kAlphabet.character[' '] == 0x120 && kAlphabet.character[0xAD] == 0x143);

}  // namespace

bool append_spelled_bytes(std::string_view spelling, std::string& bytes) {
    bool is_spelled = true;
    for (size_t i = 0; i < spelling.size(); ++i) {
        const uint8_t lead = static_cast<uint8_t>(spelling[i]);
        uint32_t character = lead;
        size_t n_bytes = 1;
        // The alphabet ends at U+0143: no character of it has more than two bytes.
        if (lead >= 0xC2 && lead <= 0xC5 && i + 1 < spelling.size() &&
            (static_cast<uint8_t>(spelling[i + 1]) & 0xC0) == 0x80) {
            character = (lead & 0x1Fu) << 6 | (static_cast<uint8_t>(spelling[i + 1]) & 0x3Fu);
            n_bytes = 2;
        }
        const bool known = (lead < 0x80 || n_bytes == 2) && character < kAlphabet.byte.size() &&
                           kAlphabet.byte[character] != kNoByte;
        if (known)
            bytes += static_cast<char>(kAlphabet.byte[character]);
        else
            bytes.append(spelling, i, n_bytes);
        is_spelled = is_spelled && known;
        i += n_bytes - 1;
    }
    return is_spelled;
}

std::string spelled_byte(uint8_t byte) {
    const uint32_t character = kAlphabet.character[byte];
    if (character < 0x80) return std::string(1, static_cast<char>(character));
    return {static_cast<char>(0xC0 | character >> 6), static_cast<char>(0x80 | (character & 0x3F))};
}

}  // namespace kvik
