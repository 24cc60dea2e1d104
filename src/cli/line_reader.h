// LineReader: lines of a file descriptor, with an eye on Ctrl-C while it waits.
//
// Shape   a line comes without its "\n" or "\r\n"; the last one may lack it.
// Errors  a failed read: ErrorKind::file. A line over 32 MiB: ErrorKind::usage.
// Invariant bytes are never lost between lines, and never waited for once a whole line is there.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/interrupts.h"

namespace kvik::cli {

class LineReader {
  public:
    enum class Got : uint8_t { line, end, interrupt };

    // interrupts may be null: then Ctrl-C does what it does by default.
    LineReader(int fd, Interrupts* interrupts) : fd_(fd), interrupts_(interrupts) {}

    Result<Got> next(std::string& line);
    Result<Got> rest(std::string& text);  // all that is left, to the end of the file

  private:
    Result<Got> fill();  // line: something came

    int fd_;
    Interrupts* interrupts_;
    std::string buffer_;
    size_t scanned_ = 0;  // bytes of buffer_ known to hold no "\n"
    bool ended_ = false;
};

}  // namespace kvik::cli
