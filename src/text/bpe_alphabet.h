// The alphabet in which byte-level vocabularies are spelled: every byte has a visible character.
//
// Shape   the 188 bytes that Latin-1 prints as visible characters are spelled as themselves, the
//         other 68 by U+0100, U+0101, ... in ascending order (so a space is U+0120).
// Source  Radford et al. 2019, "Language models are unsupervised multitask learners", section 2.2;
//         the order is that of GPT-2's vocabulary file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kvik {

// Appends the bytes that `spelling` stands for. A character outside of the alphabet stands for its
// own bytes; says whether there was none.
bool append_spelled_bytes(std::string_view spelling, std::string& bytes);

// The character of a byte, in UTF-8.
std::string spelled_byte(uint8_t byte);

}  // namespace kvik
