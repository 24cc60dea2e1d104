#include "cli/word_wrap.h"

#include <algorithm>

#include "cli/terminal.h"

namespace kvik::cli {
namespace {

// Wide punctuation that does not begin a line: ideographic comma and full stop, closing brackets,
// fullwidth ! ) , . : ; ?
bool is_closing(std::string_view character) {
    constexpr std::string_view kClosing[] = {"\xe3\x80\x81", "\xe3\x80\x82", "\xe3\x80\x8d",
                                             "\xe3\x80\x8f", "\xe3\x80\x91", "\xef\xbc\x81",
                                             "\xef\xbc\x89", "\xef\xbc\x8c", "\xef\xbc\x8e",
                                             "\xef\xbc\x9a", "\xef\xbc\x9b", "\xef\xbc\x9f"};
    return std::find(std::begin(kClosing), std::end(kClosing), character) != std::end(kClosing);
}

}  // namespace

void WordWrap::push(std::string_view piece, std::string& out) {
    std::string safe;
    text_.push(piece, safe);
    for (size_t at = 0; at < safe.size();) {
        const Glyph glyph = glyph_at(safe, at);
        const std::string_view character = std::string_view(safe).substr(at, glyph.n_bytes);
        at += glyph.n_bytes;
        if (character == "\n") {
            end_line(out);
        } else if (character == " " || character == "\t") {
            add_blank(character, out);
        } else {
            const bool is_word = glyph.n_columns == 2 && !is_closing(character);
            const auto kind = is_word                ? Kind::wide
                              : glyph.n_columns == 1 ? Kind::narrow
                                                     : Kind::mark;
            take(character, static_cast<uint32_t>(glyph.n_columns), kind, out);
        }
    }
}

// A narrow character may not be parted from the one before it, unless that is a wide one.
void WordWrap::take(std::string_view character, uint32_t n_columns, Kind kind, std::string& out) {
    if (kind == Kind::wide || (kind == Kind::narrow && ends_wide_)) end_word(out);
    if (kind != Kind::mark) ends_wide_ = kind == Kind::wide;
    if (!is_placed_ && column_ > 0 && column_ + n_blanks_ + n_word_ + n_columns > n_columns_) {
        out += '\n';
        out += word_;
        column_ = n_word_;
        blanks_.clear();
        word_.clear();
        n_blanks_ = n_word_ = 0;
        is_placed_ = true;
    }
    if (is_placed_) {
        out += character;
        advance(n_columns);
    } else {
        word_ += character;
        n_word_ += n_columns;
    }
}

void WordWrap::add_blank(std::string_view character, std::string& out) {
    end_word(out);
    constexpr size_t kTab = 8;
    n_blanks_ += character == "\t" ? kTab - (column_ + n_blanks_) % kTab : 1;
    blanks_ += character;
}

void WordWrap::end_word(std::string& out) {
    if (!word_.empty()) {
        out += blanks_ + word_;
        advance(n_blanks_ + n_word_);
        blanks_.clear();
        word_.clear();
        n_blanks_ = n_word_ = 0;
    }
    is_placed_ = false;
    ends_wide_ = false;
}

// Blanks that would leave the line would make an empty one.
void WordWrap::end_line(std::string& out) {
    end_word(out);
    if (column_ + n_blanks_ <= n_columns_) out += blanks_;
    blanks_.clear();
    n_blanks_ = 0;
    out += '\n';
    column_ = 0;
}

// Past the last column the terminal goes on in its next line.
void WordWrap::advance(size_t n_columns) {
    column_ += n_columns;
    if (column_ > n_columns_ && n_columns_ > 0) column_ = (column_ - 1) % n_columns_ + 1;
}

void WordWrap::finish(std::string& out) {
    std::string rest;
    text_.finish(rest);
    for (const char c : rest) take({&c, 1}, 1, Kind::narrow, out);
    end_word(out);
    if (column_ + n_blanks_ <= n_columns_) out += blanks_;
    blanks_.clear();
    n_blanks_ = 0;
}

}  // namespace kvik::cli
