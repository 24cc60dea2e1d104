// Report: an error as it is told to the user, on stderr, and the exit code it becomes.
//
// Shape   text: "kvik: MESSAGE", one line. json: {"error": {"kind", "code", "message"}}.
// Invariant what an error quotes of a file cannot steer the terminal.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace kvik::cli {

enum class ErrorFormat : uint8_t { text, json };

int report(const Error& error, ErrorFormat format);
std::string describe_error(const Error& error, ErrorFormat format);

}  // namespace kvik::cli
