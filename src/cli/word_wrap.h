// WordWrap: text that comes in pieces, broken between words where a line of the terminal ends.
//
// Shape   a line end takes the place of the blanks before a word that does not fit; wide characters
//         (Chinese, Japanese) are words of their own, and closing punctuation stays with them.
//         Line ends and indents of the text stay; a word longer than a line is left to the terminal.
// Cost    linear. A word is held back until it is known whether it fits.
// Invariant any split of the bytes into pieces gives the same text. What comes out cannot steer the
//         terminal (terminal_text.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/terminal_text.h"

namespace kvik::cli {

class WordWrap {
  public:
    explicit WordWrap(uint32_t n_columns) : n_columns_(n_columns) {}
    void push(std::string_view piece, std::string& out);
    void finish(std::string& out);  // the last word

  private:
    enum class Kind : uint8_t { narrow, wide, mark };
    void take(std::string_view character, uint32_t n_columns, Kind kind, std::string& out);
    void add_blank(std::string_view character, std::string& out);
    void end_word(std::string& out);
    void end_line(std::string& out);
    void advance(size_t n_columns);

    size_t n_columns_;
    TerminalText text_;
    std::string blanks_, word_;  // after column_
    size_t column_ = 0, n_blanks_ = 0, n_word_ = 0;
    bool is_placed_ = false;  // the start of the word is out, the rest follows it at once
    bool ends_wide_ = false;  // the last character of the word is a wide one
};

}  // namespace kvik::cli
