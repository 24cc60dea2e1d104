#include "cli/repl/line_editor.h"

#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "cli/repl/editor_keys.h"
#include "cli/repl/prompt_signals.h"
#include "cli/repl/wide_text.h"
#include "cli/terminal.h"

namespace kvik::cli {
namespace {

constexpr Control kPasteOn = "\x1b[?2004h", kPasteOff = "\x1b[?2004l";
constexpr int kMostEntries = 1000;

// libedit asks the locale of the thread for the width of characters and for their bytes.
class Utf8Locale {
  public:
    explicit Utf8Locale(locale_t locale) : before_(::uselocale(locale)) {}
    ~Utf8Locale() { ::uselocale(before_); }
    Utf8Locale(const Utf8Locale&) = delete;
    Utf8Locale& operator=(const Utf8Locale&) = delete;

  private:
    locale_t before_;
};

}  // namespace

struct LineEditor::Impl : EditorState {
    explicit Impl(Interrupts& its_interrupts) : interrupts(its_interrupts) {}
    ~Impl();
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    bool wait();
    bool heed_signals();
    void leave_terminal();
    void take_terminal();
    static int get(EditLine* editor, wchar_t* character);

    Interrupts& interrupts;
    locale_t locale{};
    EditLine* editor = nullptr;
    History* history = nullptr;
    PromptSignals* signals = nullptr;  // while read() waits
    std::string bytes;                 // typed, and not yet given to the editor
};

LineEditor::Impl::~Impl() {
    if (locale == nullptr) return;
    {
        const Utf8Locale utf8(locale);
        if (editor != nullptr) ::el_end(editor);
        if (history != nullptr) ::history_end(history);
    }
    ::freelocale(locale);
}

// ---- characters in ----

// False: the terminal is gone.
bool LineEditor::Impl::wait() {
    std::array<pollfd, 3> waiting{};
    waiting[0] = {STDIN_FILENO, POLLIN, 0};
    waiting[1] = {interrupts.fd(), POLLIN, 0};
    waiting[2] = {signals->fd(), POLLIN, 0};
    if (::poll(waiting.data(), waiting.size(), -1) < 0) return errno == EINTR;
    if (waiting[0].revents == 0) return true;
    std::array<char, 4096> chunk;
    const ssize_t n = ::read(STDIN_FILENO, chunk.data(), chunk.size());
    if (n > 0) bytes.append(chunk.data(), static_cast<size_t>(n));
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

// libedit's reader. Ctrl-C is a character to it, wherever it is in its work.
int LineEditor::Impl::get(EditLine* editor, wchar_t* character) {
    Impl& impl = static_cast<Impl&>(state_of(editor));
    for (;;) {
        if (impl.interrupts.take()) {
            if (impl.interrupts.ended_by() != 0) return 0;
            *character = kInterruptKey;
            return 1;
        }
        if (const auto c = take_character(impl.bytes)) {
            *character = *c;
            return 1;
        }
        if (!impl.wait()) return 0;
        while (impl.heed_signals()) {
        }
    }
}

// True: there was one.
bool LineEditor::Impl::heed_signals() {
    const int signal = signals->take();
    if (signal == 0) return false;
    if (signal == SIGWINCH) {
        ::el_resize(editor);
    } else if (signal == SIGCONT) {
        take_terminal();
    } else {
        leave_terminal();
        note("\n");
        signals->let_act(signal);
        take_terminal();
    }
    steer("\r\x1b[J");  // what stands on the screen is not what the editor believes
    ::el_set(editor, EL_REFRESH);
    return true;
}

void LineEditor::Impl::leave_terminal() {
    steer(kPasteOff);
    ::el_set(editor, EL_PREP_TERM, 0);
}

void LineEditor::Impl::take_terminal() {
    ::el_set(editor, EL_PREP_TERM, 0);  // what it believes and what is may differ by now
    ::el_set(editor, EL_PREP_TERM, 1);
    steer(kPasteOn);
}

// ---- lines out ----

LineEditor::LineEditor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

LineEditor::~LineEditor() = default;

std::unique_ptr<LineEditor> LineEditor::open(Interrupts& interrupts) {
    const char* term = std::getenv("TERM");
    if (term == nullptr || *term == '\0' || std::string_view(term) == "dumb") return nullptr;
    if (!is_terminal(STDIN_FILENO) || !is_terminal(STDERR_FILENO)) return nullptr;
    auto impl = std::make_unique<Impl>(interrupts);
    impl->locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (impl->locale == nullptr) return nullptr;
    const Utf8Locale utf8(impl->locale);
    impl->editor = ::el_init("kvik", stdin, stderr, stderr);
    impl->history = ::history_init();
    if (impl->editor == nullptr || impl->history == nullptr) return nullptr;
    HistEvent event{};
    ::history(impl->history, &event, H_SETSIZE, kMostEntries);
    ::history(impl->history, &event, H_SETUNIQUE, 1);
    ::el_set(impl->editor, EL_GETCFN, &Impl::get);
    ::el_set(impl->editor, EL_HIST, ::history, impl->history);
    bind_keys(impl->editor, *impl);
    return std::unique_ptr<LineEditor>(new LineEditor(std::move(impl)));
}

LineReader::Got LineEditor::read(const Asked& asked, std::string& text) {
    Impl& impl = *impl_;
    const Utf8Locale utf8(impl.locale);
    PromptSignals signals;
    impl.signals = &signals;
    impl.begin(asked.prompt, to_wide(asked.prefill));
    if (!asked.prefill.empty()) ::el_wpush(impl.editor, kPrefillKey);
    steer(kPasteOn);
    int n_characters = 0;
    const wchar_t* line = ::el_wgets(impl.editor, &n_characters);
    steer(kPasteOff);
    impl.signals = nullptr;
    if (impl.interrupted) {
        text = impl.interrupted_text;
        return LineReader::Got::interrupt;
    }
    if (line == nullptr || n_characters <= 0) return LineReader::Got::end;
    std::wstring_view all(line, static_cast<size_t>(n_characters));
    if (all.ends_with(L'\n')) all.remove_suffix(1);
    text = to_utf8(all);
    return LineReader::Got::line;
}

void LineEditor::remember(const std::string& entry) {
    const Utf8Locale utf8(impl_->locale);
    HistEvent event{};
    ::history(impl_->history, &event, H_ENTER, entry.c_str());
}

void LineEditor::complete_by(Completer completer) {
    impl_->completer = std::move(completer);
}

}  // namespace kvik::cli
