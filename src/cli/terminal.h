// Terminal: what goes to whom, and how it may look there.
//
// The answer goes to stdout, all else to stderr. Colour and progress are for a terminal whose user
// has not set NO_COLOR and whose TERM is not dumb.
// Errors  a reader that went away (EPIPE) is an error without a message: the program then stops
//         quietly. Any other failure to write says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvik::cli {

inline constexpr int kReaderGoneExit = 141;  // what a shell reports for a death by SIGPIPE

bool is_terminal(int fd);
bool may_decorate(int fd);

Result<void> put(std::string_view text);    // stdout, unbuffered
void note(std::string_view text) noexcept;  // stderr; failure is nobody's business
std::string dim(std::string_view text);     // dimmed where stderr may be decorated

// Control characters (C0, DEL, and C1 as UTF-8) as \x1b and such: for text that a file brings.
std::string printable(std::string_view text);
std::string printable_lines(std::string_view text);  // line ends and tabs stay

std::string counted(uint64_t n, std::string_view thing);  // "1 message", "2 messages"

uint32_t columns_of(int fd);  // of a terminal; 80 where it does not say
// As much of one line as fits, "..." at its end if that is not all. Wide characters count twice.
std::string cut_to_columns(std::string_view text, uint32_t n_columns);
// One line broken between words; the lines after the first begin with `indent` blanks.
std::string wrapped(std::string_view text, uint32_t n_columns, uint32_t indent = 0);

Error reader_gone();
bool is_reader_gone(const Error& error);

}  // namespace kvik::cli
