// LineEditor: what somebody types at a terminal, edited with the keys that shells know.
//
// Shape   one line, or several: a bracketed paste keeps its line ends, Alt-Enter makes one. As
//         UTF-8, without a line end after it.
// Owner   while read() waits, the terminal; before and after, it is as it was found.
// Threads one.   Cost  a paste is linear in its length.
// Invariant bytes typed before read() was called are not lost. Ctrl-Z, a new size and an end by
//         signal leave the terminal in order.
// Source  libedit's own interface (histedit.h), which stays in the .cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cli/interrupts.h"
#include "cli/line_reader.h"
#include "cli/repl/completion.h"

namespace kvik::cli {

struct Asked {
    std::string prompt;
    std::string prefill = {};  // stands on the line already
};

class LineEditor {
  public:
    // Edits on stdin and stderr. Null: they are no terminal that can, or TERM is dumb.
    static std::unique_ptr<LineEditor> open(Interrupts& interrupts);
    ~LineEditor();

    // interrupt: `text` is what stood on the line. end: Ctrl-D on an empty one, or no terminal.
    LineReader::Got read(const Asked& asked, std::string& text);
    void remember(const std::string& entry);  // for the arrow keys
    void complete_by(Completer completer);    // Tab, in a line that begins with a slash

  private:
    struct Impl;
    explicit LineEditor(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace kvik::cli
