// Step costs on disk: one small text file for each machine and model, in a folder of their own.
//
// Shape   step-costs-PLACE: a line with the version, one with the whole key, one for each row of
//         the table, one with the digest of all before.
// Threads and processes: a file is written beside its place and renamed, so a reader sees the old
//         one or the new one; of two writers the later stays.
// Errors  none. A file that is damaged, of another key, no regular file or not there: nothing. One
//         that cannot be written is not written.
#pragma once

#include <optional>
#include <string>

#include "engine/step_costs_key.h"
#include "sched/step_costs.h"

namespace kvik {

// `folder` is made where it is not there; empty: nothing is read or written.
std::optional<StepCosts> read_step_costs(const std::string& folder, const StepCostsKey& key);
enum class Kept : uint8_t { yes, no };
Kept keep_step_costs(const std::string& folder, const StepCostsKey& key, const StepCosts& costs);

std::string step_costs_path(const std::string& folder, const StepCostsKey& key);

}  // namespace kvik
