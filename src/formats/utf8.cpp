#include "formats/utf8.h"

#include <cstddef>
#include <cstdint>

namespace kvik {
namespace {

// How many bytes follow a lead byte, and what the first of them may be.
struct Lead {
    uint32_t n_following;
    uint8_t low;
    uint8_t high;
};

Lead lead_of(uint8_t byte) noexcept {
    if (byte >= 0xc2 && byte <= 0xdf) return {1, 0x80, 0xbf};
    if (byte == 0xe0) return {2, 0xa0, 0xbf};
    if (byte == 0xed) return {2, 0x80, 0x9f};
    if (byte >= 0xe1 && byte <= 0xef) return {2, 0x80, 0xbf};
    if (byte == 0xf0) return {3, 0x90, 0xbf};
    if (byte >= 0xf1 && byte <= 0xf3) return {3, 0x80, 0xbf};
    if (byte == 0xf4) return {3, 0x80, 0x8f};
    return {0, 0, 0};  // never a lead byte
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
    for (size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<uint8_t>(text[i]);
        if (byte < 0x80) continue;
        Lead lead = lead_of(byte);
        if (lead.n_following == 0 || text.size() - i - 1 < lead.n_following) return false;
        for (; lead.n_following > 0; --lead.n_following, lead.low = 0x80, lead.high = 0xbf) {
            const auto next = static_cast<uint8_t>(text[++i]);
            if (next < lead.low || next > lead.high) return false;
        }
    }
    return true;
}

}  // namespace kvik
