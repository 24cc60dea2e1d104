// SentencePiece's spaces: U+2581 in tokens and in text is a space, and a stretch of text falls into
// words that no token reaches across.
//
// Shape   a word begins at a space, unless some token has the byte before it and a space next to
//         each other. Words are encoded one by one; that gives what the whole stretch would.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kvik {

// Appends text with every U+2581 as a space.
void append_unmarked(std::string_view text, std::string& out);

class WordBorders {
  public:
    // Before any token is added, every space begins a word.
    void add_token(std::string_view piece);
    // Where the word that begins at `begin` ends.
    // Whether a space after this byte begins a word.
    bool begins_after(char byte) const { return !joins_space_[static_cast<uint8_t>(byte)]; }
    size_t end_of_word(std::string_view text, size_t begin) const;

  private:
    std::bitset<256> joins_space_;  // bytes that some token has right before a space
};

}  // namespace kvik
