// Completion: what Tab may put at the end of a line that is being typed.
//
// Cost    a path reads its folder.
// Invariant nothing is offered that holds a control character.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kvik::cli {

struct Completion {
    std::string typed;               // the end of the line that a word takes the place of
    std::vector<std::string> words;  // that begin with it
};
// Of a line up to the cursor. No words: Tab is a tab.
using Completer = std::function<Completion(std::string_view line)>;

Completion complete_word(std::string_view typed, const std::vector<std::string>& known);
// Folders end in a slash. `home` stands for ~.
Completion complete_path(std::string_view typed, const std::string& home);

// What all the words go on with after `typed`, and a blank where there is one word, unless it ends
// in a slash.
std::string common_rest(const Completion& completion);

}  // namespace kvik::cli
