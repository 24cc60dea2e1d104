// RepoListing: the files of a repository at one commit, as the server lists them.
//
// Shape   the answer of /api/models/OWNER/REPO/revision/REV?blobs=true.
// Errors  ErrorKind::failed: no such answer, or a commit that is none. What is damaged in one entry
//         leaves that entry out: a name that could leave its folder is never used, and counted.
// Invariant names are safe (is_safe_file_name) and listed once; checksums are hex digits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kvik::hub {

struct RepoFile {
    std::string name;
    uint64_t bytes = 0;
    std::string sha256;    // of a large file (LFS); empty: not listed
    std::string git_sha1;  // of others: what git calls the blob; empty: not listed
};

struct RepoListing {
    std::string commit;
    std::vector<RepoFile> files;
    uint32_t n_unsafe = 0;  // entries whose names cannot be used
};

Result<RepoListing> parse_listing(std::string_view json, const std::string& address);

}  // namespace kvik::hub
