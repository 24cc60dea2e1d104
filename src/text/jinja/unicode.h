// What Python's str knows about characters, over UTF-8.
//
// A character is a code point, or a sequence that can never become one (text/utf8.h): such a
// sequence has a width and a place but no class and no case. Classes and cases are those of Unicode
// 16.0, as Python has them for what its own version knows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/code_points.h"

namespace kvik::jinja {

struct Character {
    char32_t code = kBroken;
    size_t n_bytes = 1;
    static constexpr char32_t kBroken = 0x110000;
};

Character character_at(std::string_view text, size_t at);  // at < text.size()
size_t n_chars(std::string_view text);
// The byte at which character `index` begins; text.size() when there are not that many.
size_t byte_of(std::string_view text, size_t index);
// Where `what` first stands at or after `from`, or npos. Linear, whatever the texts are.
size_t find_text(std::string_view in, std::string_view what, size_t from = 0);
using kvik::append_utf8;

bool is_space(char32_t code);      // str.isspace
bool is_printable(char32_t code);  // str.isprintable: what repr shows as it is

enum class Case : uint8_t { upper, lower, title };
// Walks a text character by character and gives each in another case: "\u00df" is "SS" in upper
// case, and the form of a small sigma depends on the word around it.
class CaseWalk {
  public:
    explicit CaseWalk(std::string_view text) : text_(text) {}
    bool done() const { return at_ == text_.size(); }
    size_t at() const { return at_; }  // where the next character begins
    std::string next(Case form);

  private:
    bool sigma_ends_word(size_t after) const;

    std::string_view text_;
    size_t at_ = 0;
    bool after_cased_ = false;  // a cased letter stands before, or only ignorable ones after it
};

bool is_letter(char32_t code);   // str.isalpha
bool is_digit(char32_t code);    // str.isdigit
bool is_numeric(char32_t code);  // str.isnumeric
bool is_cased(char32_t code);
bool is_upper(char32_t code);  // str.isupper of the character alone
bool is_lower(char32_t code);  // str.islower of the character alone
// No cased character but those that are `such`, and at least one: str.isupper and str.islower.
bool is_cased_as(std::string_view text, bool (*such)(char32_t));

}  // namespace kvik::jinja
