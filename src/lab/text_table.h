// Tables as text: columns side by side for a terminal, and CSV for programs (RFC 4180).
#pragma once

#include <string>

#include "lab/report.h"

namespace kvik::lab {

// The first column to the left, all others to the right.
std::string text_table(const Table& table);
std::string csv_text(const Table& table);

}  // namespace kvik::lab
