// Wide text: UTF-8 and the wide characters that the line editor works in (on Linux: code points).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kvik::cli {

std::wstring to_wide(std::string_view text);  // U+FFFD for each broken unit
std::string to_utf8(std::wstring_view text);

// Takes the first character off `bytes`; nothing: it is not there to its end yet.
std::optional<wchar_t> take_character(std::string& bytes);

// What may be inserted from a paste: line ends as \n, no other control character but tabs, no line
// end after the last line.
std::wstring pasteable(std::wstring_view pasted);

}  // namespace kvik::cli
