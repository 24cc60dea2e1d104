// Diagnosis: all that `kvik doctor` found out, as JSON and as text for people; and the advice that
// follows from it.
//
// Shape   text is a label and what is known in lines of at most `columns`, 40 at least.
// Cost    pure functions of their arguments.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/doctor_machine.h"
#include "cli/doctor_measure.h"
#include "sched/step_costs.h"

namespace kvik::cli {

struct Choices {
    std::string isa, act, kv;
    uint32_t n_threads = 0;
    uint64_t cache_bytes = 0;
    std::string context;  // in words
};

struct ConfigFiles {
    std::string config;  // where it is looked for, or the one that is read; empty: no home
    bool config_found = false;
    std::optional<std::string> config_error;
    std::string state;                           // the folder; empty: no home
    std::vector<std::string> variables;          // "KVIK_CTX=4096"
    std::vector<std::string> ignored_variables;  // what is wrong with each
};

struct Advice {
    std::string finding;
    std::string remedy;
};

// What steps of a model cost here.
struct StepReport {
    std::string model;  // its file
    uint32_t context = 0;
    std::optional<StepCosts> costs;  // nothing: they were not to be measured, or could not
};

struct Diagnosis {
    Machine machine;
    Ceilings ceilings;
    Choices choices;
    ConfigFiles files;
    std::optional<StepReport> steps;  // where a model was named
};

std::vector<Advice> advise(const Diagnosis& diagnosis);

std::string diagnosis_as_json(const Diagnosis& diagnosis);
std::string diagnosis_as_text(const Diagnosis& diagnosis, uint32_t columns);

}  // namespace kvik::cli
