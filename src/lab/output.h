// Output: a report in a folder: NAME.csv, report.html, and by matplotlib a PNG for each chart.
//
// Errors  a folder or file that cannot be written: file. No matplotlib is none: the page then keeps
//         its own drawings, and PlotNote says what to do.
#pragma once

#include <string>

#include "base/result.h"
#include "lab/report.h"

namespace kvik::lab {

struct OutputOptions {
    std::string folder = {};
    std::string python = {};  // empty: .venv/bin/python3 below the working folder, else python3
};

// What the user should know about the pictures; empty: all are there.
using PlotNote = std::string;

// Makes the folder, so that what cannot be written is known before the work. Empty: nothing to do.
Result<void> prepare(const OutputOptions& options);
Result<PlotNote> write_report(const Report& report, const OutputOptions& options);

std::string charts_json(const Report& report);

}  // namespace kvik::lab
