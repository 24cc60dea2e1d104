// load_model: a path -> a Model that can run, with its words.
//
// Cost    one pass over the file on all threads: every slice of rows is hashed, repacked into one
//         arena in execution order and given back to the kernel, so that weights are never held
//         twice. Slices are at most 4 MiB.
// Errors  what the readers say; a tensor that is missing, misshapen or of a type without kernels:
//         ErrorKind::file or unsupported, naming it and what was expected.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "kernels/activations.h"
#include "kernels/table.h"
#include "model/model.h"
#include "model/source.h"

namespace kvik {

struct LoadOptions {
    std::string path;
    const KernelTable* kernels = nullptr;
    Act act = Act::int8;
    ThreadPool* pool = nullptr;
    // Called on the calling thread; bytes of tensors read so far, and in all.
    std::function<void(uint64_t done, uint64_t total)> progress;
};

struct LoadedModel {
    std::unique_ptr<Model> model;
    ModelWords words;
    std::vector<std::string> notes;  // what the user should know of the files, a sentence each
};

Result<LoadedModel> load_model(const LoadOptions& options);

// What the kernels ask of a model's shape. `path` is for messages.
Result<void> check_limits(const ModelConfig& config, const std::string& path);

}  // namespace kvik
