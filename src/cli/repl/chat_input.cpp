#include "cli/repl/chat_input.h"

#include <unistd.h>

#include "cli/terminal.h"

namespace kvik::cli {

ChatInput::ChatInput(Interrupts& interrupts, const Environment& environment)
    : at_terminal_(is_terminal(STDIN_FILENO)),
      reader_(STDIN_FILENO, &interrupts),
      editor_(LineEditor::open(interrupts)) {
    if (!editor_) return;
    const std::string path = history_path(environment);
    if (path.empty()) {
        trouble_ = "history is not kept: HOME is not set";
        return;
    }
    history_.emplace(path);
    const auto entries = history_->load();
    if (!entries) {
        trouble_ = entries.error().message;
        history_.reset();
        return;
    }
    for (const std::string& entry : *entries) editor_->remember(entry);
}

Result<LineReader::Got> ChatInput::next(const Asked& asked, std::string& text) {
    if (editor_) return editor_->read(asked, text);
    if (at_terminal_) note(asked.prompt);
    text.clear();
    return reader_.next(text);
}

void ChatInput::remember(const std::string& entry) {
    if (editor_) editor_->remember(entry);
    // A full disk later on is not worth a word for each message.
    if (history_ && !history_->append(entry)) history_.reset();
}

void ChatInput::complete_by(Completer completer) {
    if (editor_) editor_->complete_by(std::move(completer));
}

}  // namespace kvik::cli
