// TerminalText: text of a model or a file as a terminal may see it, piece by piece.
//
// Shape   characters that could steer the terminal or reorder what it shows are written out. Bytes
//         below 0x20 but \n and \t, DEL and bytes that are not UTF-8 become \x1b; C1 controls and the
//         direction controls U+202A..U+202E and U+2066..U+2069 become \u202e. The rest stays, as do
//         the marks U+200E, U+200F and U+061C: Hebrew and Arabic text needs them, and they change
//         nothing beyond the characters beside them.
// Cost    linear; a piece that needs no change is copied once.
// Invariant any split of the bytes into pieces gives the same text.
#pragma once

#include <string>
#include <string_view>

namespace kvik::cli {

class TerminalText {
  public:
    void push(std::string_view piece, std::string& out);
    void finish(std::string& out);  // the text ends here, inside a character or not

  private:
    std::string held_;  // the first bytes of a character
};

// The whole text at once, its line ends and tabs kept.
std::string printable_lines(std::string_view text);
// The same as one line: line ends become \x0a and tabs \x09.
std::string printable(std::string_view text);

}  // namespace kvik::cli
