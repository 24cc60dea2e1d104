// The multi-turn experiment in words, tables and charts.
#pragma once

#include <string>

#include "lab/multiturn.h"
#include "lab/report.h"

namespace kvik::lab {

// What was measured where; for the reader alone.
struct MeasuredOn {
    std::string model;    // the file's name
    std::string machine;  // processor
    UsedSettings used;
    uint64_t block_bytes = 0;
    uint32_t block_tokens = 0;
    uint32_t n_rounds = 0;
};

Report multiturn_report(const MultiturnResult& result, const MeasuredOn& on);
Table multiturn_table(const MultiturnResult& result);  // for a terminal

}  // namespace kvik::lab
