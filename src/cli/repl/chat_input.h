// ChatInput: where messages come from. At a terminal a line editor with a history, else lines of
// stdin.
//
// Owner   borrows the interrupts.
// Errors  a failed read: ErrorKind::file. A history that cannot be kept is no error: `trouble` says
//         why, once, and it lasts as long as the chat.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/interrupts.h"
#include "cli/line_reader.h"
#include "cli/repl/history_file.h"
#include "cli/repl/line_editor.h"

namespace kvik::cli {

class ChatInput {
  public:
    ChatInput(Interrupts& interrupts, const Environment& environment);

    bool at_terminal() const { return at_terminal_; }
    bool can_edit() const { return editor_ != nullptr; }
    const std::optional<std::string>& trouble() const { return trouble_; }

    // Asks at a terminal. interrupt: `text` is what stood on the line.
    Result<LineReader::Got> next(const Asked& asked, std::string& text);
    void remember(const std::string& entry);
    void complete_by(Completer completer);

  private:
    bool at_terminal_;
    LineReader reader_;
    std::unique_ptr<LineEditor> editor_;  // null: plain lines
    std::optional<HistoryFile> history_;
    std::optional<std::string> trouble_;
};

}  // namespace kvik::cli
