// Terminal: what goes to whom, and how it may look there. All that the program writes to stdout and
// stderr passes here.
//
// The answer goes to stdout, all else to stderr. Colour and progress are for a terminal whose user
// has not set NO_COLOR and whose TERM is not dumb.
// Errors  a reader that went away (EPIPE) is an error without a message: the program then stops
//         quietly. Any other failure to write says so.
// Invariant text cannot steer a terminal (terminal_text.h); to a pipe or a file it goes byte for
//         byte. Only a Control, which is a constant of the source, is sent as it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/terminal_text.h"

namespace kvik::cli {

inline constexpr int kReaderGoneExit = 141;  // what a shell reports for a death by SIGPIPE

bool is_terminal(int fd);
bool may_decorate(int fd);

Result<void> put(std::string_view text);        // stdout, unbuffered, in pieces of any size
Result<void> finish_put();                      // after the last piece
void note(std::string_view text) noexcept;      // stderr; failure is nobody's business
void note_dim(std::string_view text) noexcept;  // dimmed where stderr may be decorated

class Control {
  public:
    consteval Control(const char* sequence) : sequence_(sequence) {}
    std::string_view sequence() const { return sequence_; }

  private:
    std::string_view sequence_;
};
void steer(Control control) noexcept;  // the terminal at stderr

// One line on stderr, dimmed, and broken between words where a terminal would break it.
void note_line(std::string_view line) noexcept;

std::string counted(uint64_t n, std::string_view thing);  // "1 message", "2 messages"
std::string human_bytes(uint64_t bytes);  // "12 B", "1.5 KiB", "93.8 MiB", "4.25 GiB"

// The character at `at`: its bytes (one, if it is none) and its columns.
struct Glyph {
    size_t n_bytes = 1;
    size_t n_columns = 1;
};
Glyph glyph_at(std::string_view text, size_t at);

uint32_t columns_of(int fd);  // of a terminal; 80 where it does not say
// As much of one line as fits, "..." at its end if that is not all. Wide characters count twice.
std::string cut_to_columns(std::string_view text, uint32_t n_columns);
// One line broken between words; the lines after the first begin with `indent` blanks.
std::string wrapped(std::string_view text, uint32_t n_columns, uint32_t indent = 0);

Error reader_gone();
bool is_reader_gone(const Error& error);

}  // namespace kvik::cli
