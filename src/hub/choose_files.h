// Which files of a repository make up the model that was asked for.
//
// Use     a pure function of the listing and the request.
// Errors  ErrorKind::usage: it is not clear which GGUF is meant, or none is; they are listed.
//         ErrorKind::unsupported: nothing in the repository is a model that kvik reads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "hub/repo_listing.h"
#include "hub/repo_request.h"

namespace kvik::hub {

struct ChosenFiles {
    std::vector<RepoFile> files;  // in the order of fetching; config.json comes last
    std::string first;            // of a GGUF: the name of its (first) file; empty: a directory
    std::string name;             // by which kvik knows it then: "OWNER/REPO:Q4_K_M"
};

Result<ChosenFiles> choose_files(const RepoListing& listing, const RepoRequest& request);

}  // namespace kvik::hub
