// The conversation of the multi-turn experiment: what the user says, written out.
//
// Shape   one long talk about one thing, of which any number of first turns can be taken; another
//         wording of one of its messages; a talk about something else; a last word on the first.
//         A message of the long talk has some 200 tokens.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kvik::lab {

std::string_view system_prompt();
std::span<const std::string_view> long_talk();
// Message `index` of the long talk as it reads after a change near its end.
std::string edited(size_t index);
std::span<const std::string_view> other_talk();
std::string_view last_word();

}  // namespace kvik::lab
