// The keys that kvik adds to libedit's own: Ctrl-C, paste, several lines, Tab.
//
// Each is a function that libedit calls while a line is edited; what they share with the LineEditor
// is the EditorState, reached through libedit's client data.
// Source  xterm's control sequences: bracketed paste, and the spellings of cursor keys.
#pragma once

#include <string>
#include <string_view>

#include "cli/repl/completion.h"

struct editline;  // libedit's EditLine

namespace kvik::cli {

inline constexpr wchar_t kInterruptKey = 0x03;
// Sequences that no keyboard sends.
inline constexpr const wchar_t* kPrefillKey = L"\x1b[990~";

struct EditorState {
    std::string prompt;
    std::wstring prefill;
    bool interrupted = false;
    std::string interrupted_text;
    Completer completer;  // what Tab does; none: a tab

    void begin(std::string its_prompt, std::wstring its_prefill);
};

// The state must outlive the editor.
void bind_keys(editline* editor, EditorState& state);
EditorState& state_of(editline* editor);

}  // namespace kvik::cli
