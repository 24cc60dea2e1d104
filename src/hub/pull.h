// pull: a model of a Hugging Face repository, fetched into the Hugging Face cache.
//
// Shape   the repository's list at one commit, the files that make up the model (choose_files.h), and
//         each of them into a blob (blob_download.h), which then gets its name in the snapshot.
// Cost    what is here already is not fetched again; a part that is left of an earlier try is gone
//         on with, after its bytes were read once for the checksum.
// Errors  ErrorKind::usage: which file is meant is not clear. Failed: the server or the way to it.
//         File: the disk. Cancelled: stopped; what came so far stays.
// Threads none; two processes that fetch the same wait for each other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "hub/http.h"
#include "hub/repo_request.h"

namespace kvik::hub {

struct PullProgress {
    std::string file;
    bool is_check = false;                     // the part that is here already is being read
    uint64_t done_bytes = 0, total_bytes = 0;  // of all files
    uint64_t fetched_bytes = 0;                // over the network by now
};

struct PullOptions {
    RepoRequest request;
    std::string cache;  // Places::hf_cache
    HttpOptions http;
    std::function<void(const PullProgress&)> progress;
    std::function<void(const std::string&)> tell;  // what goes on: waiting, trying again
};

struct PulledModel {
    std::string path;  // of the GGUF (its first part) or of the directory
    std::string name, commit;
    uint64_t bytes = 0, fetched_bytes = 0;
    uint32_t n_files = 0;
};

Result<PulledModel> pull(PullOptions options);

}  // namespace kvik::hub
