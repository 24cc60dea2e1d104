// Normal form C of UTF-8.
//
// Cost      nothing but a scan where all is ASCII; else about 50 ns a character, O(n log n) for any
//           run of combining marks.
// Invariant bytes that are not UTF-8 stay as they are and are no part of a composition.
// Source    Unicode 15, section 3.11 and annex 15, with the tables of text/unicode_tables.h.
#pragma once

#include <string>
#include <string_view>

namespace kvik {

void append_nfc(std::string_view text, std::string& out);

}  // namespace kvik
