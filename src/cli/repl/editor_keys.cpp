#include "cli/repl/editor_keys.h"

#include <histedit.h>
#include <unistd.h>

#include <algorithm>

#include "cli/repl/wide_text.h"
#include "cli/terminal.h"

namespace kvik::cli {
namespace {

constexpr std::wstring_view kPasteEnd = L"\x1b[201~";
constexpr const wchar_t* kOlderKey = L"\x1b[991~";
constexpr const wchar_t* kNewerKey = L"\x1b[992~";

using Code = unsigned char;

// Where the cursor is in the lines that are edited.
struct Place {
    std::wstring_view before, after;  // the cursor

    explicit Place(EditLine* editor) {
        const LineInfoW* line = ::el_wline(editor);
        before = {line->buffer, static_cast<size_t>(line->cursor - line->buffer)};
        after = {line->cursor, static_cast<size_t>(line->lastchar - line->cursor)};
    }
    // Characters between the start of its line and the cursor.
    size_t column() const { return before.size() - (before.rfind(L'\n') + 1); }
};

void move(EditLine* editor, ptrdiff_t n_characters) {
    ::el_cursor(editor, static_cast<int>(n_characters));
}

Code interrupt(EditLine* editor, int) {
    EditorState& state = state_of(editor);
    const Place place(editor);
    state.interrupted = true;
    state.interrupted_text = to_utf8(std::wstring(place.before) + std::wstring(place.after));
    move(editor, static_cast<ptrdiff_t>(place.after.size()));
    ::el_winsertstr(editor, L"^C");
    ::el_wpush(editor, L"\n");
    return CC_REFRESH;
}

Code paste(EditLine* editor, int argument) {
    std::wstring pasted;
    wchar_t c = 0;
    while (!pasted.ends_with(kPasteEnd)) {
        if (::el_wgetc(editor, &c) != 1) return CC_EOF;
        if (c == kInterruptKey) return interrupt(editor, argument);
        pasted += c;
    }
    pasted.resize(pasted.size() - kPasteEnd.size());
    const std::wstring text = pasteable(pasted);
    if (text.empty()) return CC_NORM;
    return ::el_winsertstr(editor, text.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
}

Code prefill(EditLine* editor, int) {
    return ::el_winsertstr(editor, state_of(editor).prefill.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
}

Code new_line(EditLine* editor, int) {
    return ::el_winsertstr(editor, L"\n") == 0 ? CC_REFRESH : CC_ERROR;
}

// Up and down go from line to line first, and through the history from the first and the last one.
Code up(EditLine* editor, int) {
    const Place place(editor);
    const size_t begin = place.before.rfind(L'\n');
    if (begin == std::wstring_view::npos) {
        ::el_wpush(editor, kOlderKey);
        return CC_NORM;
    }
    const std::wstring_view above = place.before.substr(0, begin);
    const size_t n_above = above.size() - (above.rfind(L'\n') + 1);
    const size_t back = place.column() + 1 + n_above - std::min(n_above, place.column());
    move(editor, -static_cast<ptrdiff_t>(back));
    return CC_CURSOR;
}

Code down(EditLine* editor, int) {
    const Place place(editor);
    const size_t end = place.after.find(L'\n');
    if (end == std::wstring_view::npos) {
        ::el_wpush(editor, kNewerKey);
        return CC_NORM;
    }
    const std::wstring_view below = place.after.substr(end + 1);
    const size_t n_below = std::min(below.find(L'\n'), below.size());
    move(editor, static_cast<ptrdiff_t>(end + 1 + std::min(n_below, place.column())));
    return CC_CURSOR;
}

Code complete(EditLine* editor, int) {
    const Place place(editor);
    const Completer& completer = state_of(editor).completer;
    const bool is_command = place.before.starts_with(L'/') && place.column() == place.before.size();
    if (!is_command || !completer)
        return ::el_winsertstr(editor, L"\t") == 0 ? CC_REFRESH : CC_ERROR;
    const Completion completion = completer(to_utf8(place.before));
    if (completion.words.empty()) return CC_REFRESH_BEEP;
    const std::string rest = common_rest(completion);
    if (!rest.empty()) {
        ::el_winsertstr(editor, to_wide(rest).c_str());
        return CC_REFRESH;
    }
    std::string list;
    for (const std::string& word : completion.words) list += word + "  ";
    note("\n" + wrapped(list, columns_of(STDERR_FILENO)) + "\n");
    return CC_REDISPLAY;
}

char* prompt_of(EditLine* editor) {
    return state_of(editor).prompt.data();
}

struct Added {
    const char* name;
    Code (*act)(EditLine*, int);
};
constexpr Added kAdded[] = {
    {"kvik-interrupt", interrupt}, {"kvik-paste", paste}, {"kvik-prefill", prefill},
    {"kvik-new-line", new_line},   {"kvik-up", up},       {"kvik-down", down},
    {"kvik-complete", complete},
};

struct Binding {
    const char* keys;
    const char* name;
};
// Cursor keys in the two spellings that terminals have, by name of what they do.
constexpr Binding kBindings[] = {
    {"^C", "kvik-interrupt"},
    {"^I", "kvik-complete"},
    {"\\e[200~", "kvik-paste"},
    {"\\e[990~", "kvik-prefill"},
    {"\\e[991~", "ed-prev-history"},
    {"\\e[992~", "ed-next-history"},
    {"\\e\n", "kvik-new-line"},
    {"\\e\r", "kvik-new-line"},
    {"^P", "kvik-up"},
    {"^N", "kvik-down"},
    {"\\e[A", "kvik-up"},
    {"\\eOA", "kvik-up"},
    {"\\e[B", "kvik-down"},
    {"\\eOB", "kvik-down"},
    {"\\e[C", "ed-next-char"},
    {"\\eOC", "ed-next-char"},
    {"\\e[D", "ed-prev-char"},
    {"\\eOD", "ed-prev-char"},
    {"\\e[1;5C", "em-next-word"},
    {"\\e[1;3C", "em-next-word"},
    {"\\e[1;5D", "ed-prev-word"},
    {"\\e[1;3D", "ed-prev-word"},
    {"\\e[H", "ed-move-to-beg"},
    {"\\eOH", "ed-move-to-beg"},
    {"\\e[1~", "ed-move-to-beg"},
    {"\\e[7~", "ed-move-to-beg"},
    {"\\e[F", "ed-move-to-end"},
    {"\\eOF", "ed-move-to-end"},
    {"\\e[4~", "ed-move-to-end"},
    {"\\e[8~", "ed-move-to-end"},
    {"\\e[3~", "ed-delete-next-char"},
    {"^R", "em-inc-search-prev"},
    {"^W", "ed-delete-prev-word"},
    {"^U", "vi-kill-line-prev"},
};

}  // namespace

void EditorState::begin(std::string its_prompt, std::wstring its_prefill) {
    prompt = std::move(its_prompt);
    prefill = std::move(its_prefill);
    interrupted = false;
    interrupted_text.clear();
}

EditorState& state_of(EditLine* editor) {
    void* state = nullptr;
    ::el_get(editor, EL_CLIENTDATA, &state);
    return *static_cast<EditorState*>(state);
}

void bind_keys(EditLine* editor, EditorState& state) {
    ::el_set(editor, EL_CLIENTDATA, static_cast<void*>(&state));
    ::el_set(editor, EL_EDITOR, "emacs");
    ::el_set(editor, EL_PROMPT, prompt_of);
    for (const Added& added : kAdded) ::el_set(editor, EL_ADDFN, added.name, "", added.act);
    for (const Binding& binding : kBindings)
        ::el_set(editor, EL_BIND, binding.keys, binding.name, nullptr);
}

}  // namespace kvik::cli
