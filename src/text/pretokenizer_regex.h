// A model's regular expression -> one over kinds of characters, a byte each, for PCRE2.
//
// Shape     models write Oniguruma's syntax as Rust and Ruby know it. What a character is, is looked
//           up in kvik's own tables: the expression that comes out has bytes alone, so that no
//           library's version of Unicode can change where a text is cut.
//           Literals, classes, alternatives, groups (?: (?i: (?= (?! (?<= (?<!, the quantifiers
//           * + ? {n,m} with a lazy ? or, but for {}, a possessive +, \p and \P with general
//           categories and some scripts, '.' and '$' at lines; what could mean two things is refused.
// Errors    ErrorKind::unsupported with the expression and what it has.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "text/character_kinds.h"

namespace kvik {

inline constexpr size_t kMaxRegexBytes = 4096;

struct KindRegex {
    std::string pattern;  // matches what kinds.spell makes of a text
    CharacterKinds kinds;
};

Result<KindRegex> translate_regex(std::string_view source);

}  // namespace kvik
