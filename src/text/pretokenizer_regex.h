// A model's regular expression -> the same one for PCRE2.
//
// Shape     models write Oniguruma's syntax as Rust and Ruby know it: \s is Unicode's White_Space,
//           \d is \p{Nd}, and both are spelled out here (PCRE2's \s would have U+180E as well).
//           Literals, classes, alternatives, groups (?: (?i: (?= (?! (?<= (?<!, the quantifiers
//           * + ? {n,m} with a lazy ? or, but for {}, a possessive +, \p and \P with names that
//           both know; all that could mean two things is refused.
// Errors    ErrorKind::unsupported with the expression and what it has.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace kvik {

inline constexpr size_t kMaxRegexBytes = 4096;

Result<std::string> translate_regex(std::string_view source);

}  // namespace kvik
