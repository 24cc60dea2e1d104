// MultiturnFlags, EvictionFlags: the flags of the experiments of `kvik lab`.
//
// Use     NAME_flags() binds a table to the struct, which stays alive until parse() has returned.
// Errors  those of single flags, from parse(); of the folder for what is written, the experiment's.
#pragma once

#include "cli/flags/options.h"
#include "lab/eviction.h"
#include "lab/multiturn.h"
#include "lab/output.h"

namespace kvik::cli {

struct MultiturnFlags {
    EngineOptions engine;
    lab::MultiturnOptions experiment;
    lab::OutputOptions output;
};

Flags multiturn_flags(MultiturnFlags& options);

struct EvictionFlags {
    lab::EvictionOptions experiment;
    lab::OutputOptions output;
};

Flags eviction_flags(EvictionFlags& options);

}  // namespace kvik::cli
