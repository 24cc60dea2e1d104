// ListOptions, PullOptions, ShowOptions, DoctorOptions, FsckOptions: the flags of the verbs that have
// to do with models, machine and files rather than with texts.
//
// Use     NAME_flags() binds a table to the struct, which stays alive until parse() has returned.
// Errors  those of single flags, from parse(). What does not go together the verb refuses.
#pragma once

#include <string>

#include "cli/flags/options.h"
#include "cli/model_choice.h"
#include "cli/pull_model.h"

namespace kvik::cli {

struct ListOptions {
    std::string part;  // of the names that are listed
    bool json = false;
};

Flags list_flags(ListOptions& options);

struct PullOptions {
    PullWish wish;
    bool json = false;
};

Flags pull_flags(PullOptions& options);

struct ShowOptions {
    std::string path;
    ChosenModel chosen;
    bool json = false, check = false, every_tensor = false;
    std::string alone;  // "--template": nothing but that
};

Flags show_flags(ShowOptions& options);

struct DoctorOptions {
    EngineOptions engine;
    bool json = false;
};

Flags doctor_flags(DoctorOptions& options);

struct FsckOptions {
    std::string folder;
    bool repairs = false, json = false;
};

Flags fsck_flags(FsckOptions& options);

}  // namespace kvik::cli
