#include "text/spm_spaces.h"

#include "text/tokenizer_specials.h"

namespace kvik {

void append_unmarked(std::string_view text, std::string& out) {
    for (size_t at = 0; at < text.size();) {
        const size_t mark = text.find(kSpaceMark, at);
        out += text.substr(at, mark - at);
        if (mark == std::string_view::npos) return;
        out += ' ';
        at = mark + kSpaceMark.size();
    }
}

void WordBorders::add_token(std::string_view piece) {
    for (size_t at = 1; at < piece.size(); ++at)
        if (piece[at] == ' ') joins_space_.set(static_cast<uint8_t>(piece[at - 1]));
}

size_t WordBorders::end_of_word(std::string_view text, size_t begin) const {
    size_t end = text.find(' ', begin + 1);
    while (end != std::string_view::npos && joins_space_[static_cast<uint8_t>(text[end - 1])])
        end = text.find(' ', end + 1);
    return end == std::string_view::npos ? text.size() : end;
}

}  // namespace kvik
