// ChosenModel: what a MODEL argument means: a path, or the name that a model on this machine has.
//
// Shape   a path that exists wins, with a note where it is a name as well. A model of Ollama's
//         brings its parameters, which are defaults of flags, and its system message.
// Cost    what begins with /, . or ~ is a path and costs nothing; else the folders of the other
//         programs are searched (hub/local_models.h).
// Errors  ErrorKind::usage: the name means several models, which are listed. ErrorKind::file: none,
//         with the nearest name and how to fetch one. Or what keeps that model from running.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/settings.h"
#include "hub/ollama.h"

namespace kvik::cli {

struct ChosenModel {
    std::string path;
    std::string name, manifest;  // of Ollama's: as its list has it, and the file; empty: another
    std::vector<hub::OllamaParameter> stated;
    std::string defaults_of;  // "the parameters of qwen2.5:0.5b (Ollama)"
    std::vector<hub::ModelDefault> defaults;
    std::string system;
    std::vector<std::string> notes;  // for people: of the path first, then of the defaults
    size_t n_path_notes = 0;
};

Result<ChosenModel> choose_model(const std::string& name, const Environment& environment);
// The same, but nothing where no model of that name is here.
Result<std::optional<ChosenModel>> find_model(const std::string& name,
                                              const Environment& environment);

// What the flags are set to where nothing else says it.
Settings defaults_of(const ChosenModel& model);

}  // namespace kvik::cli
