// UTF-8 by units: a whole character, a sequence that can never become one, or one cut short.
//
// Cost      O(bytes), no allocation but the caller's string.
// Invariant units follow each other without a gap; a broken unit is the longest start of a
//           character that its next byte rules out, and never empty, so that it costs one U+FFFD.
// Source    Unicode 15, section 3.9: table 3-7 (well-formed sequences) and "U+FFFD substitution of
//           maximal subparts".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kvik {

enum class Utf8Kind : uint8_t { character, broken, unfinished };

struct Utf8Unit {
    Utf8Kind kind = Utf8Kind::unfinished;
    uint8_t n_bytes = 0;  // 1 to 4
};

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// The unit at the start of `text`, which is not empty.
Utf8Unit utf8_unit(std::string_view text) noexcept;

// Bytes of `text` up to its first broken or unfinished unit.
size_t utf8_valid_prefix(std::string_view text) noexcept;

// Bytes of the white space (Unicode's White_Space) at the start of `text`: one character's, or 0.
size_t white_space_at(std::string_view text) noexcept;

// Bytes of `text` without the white space at its end.
size_t trimmed_end(std::string_view text) noexcept;

// `text` for a message: one line, at most kMaxShownBytes of the text; what is not visible, and bytes
// that are no character, as \xNN, an ellipsis for the rest.
std::string shown(std::string_view text);
inline constexpr size_t kMaxShownBytes = 60;

// Turns bytes that come in pieces into whole characters: U+FFFD for each broken unit, the bytes of
// an unfinished one held back until the next piece. Any split of the bytes gives the same text.
class Utf8Stream {
  public:
    void push(std::string_view bytes, std::string& out);
    void finish(std::string& out);  // what is held back can no longer become a character

  private:
    std::array<char, 3> held_{};
    uint8_t n_held_ = 0;
};

}  // namespace kvik
