// A Python program as text, run by an interpreter that the user has.
//
// Errors  nothing to run it: failed, naming the interpreter. One that does not end in time is killed.
// Cost    a process.   Threads any; the caller waits.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"

namespace kvik::lab {

struct PythonRun {
    std::string python = "python3";  // looked for in PATH where it has no slash
    std::string program;             // its source
    std::string argument;
    std::string input;  // what it reads
    std::chrono::milliseconds deadline = std::chrono::seconds(120);
};

// The exit status; what it says goes to standard error.
Result<int> run_python(const PythonRun& run);

}  // namespace kvik::lab
