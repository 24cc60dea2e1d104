// RepoRequest: what of a Hugging Face repository is asked for: OWNER/REPO[@REV][:QUANT|/FILE].
//
// Shape   taken besides: hf:... and hf.co/..., and the address of a page,
//         https://huggingface.co/OWNER/REPO[/blob/REV/FILE].
// Errors  ErrorKind::usage, with the form that is taken.
// Invariant owner and repository, revision and file are safe as parts of a path: no "..", no control
//         characters, no more bytes than a file's name may have.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace kvik::hub {

struct RepoRequest {
    std::string repository;   // "OWNER/REPO", or "gpt2"
    std::string revision;     // empty: main
    std::string quant, file;  // at most one of them

    std::string folder() const;  // "models--OWNER--REPO"
};

Result<RepoRequest> parse_repo_request(std::string_view text);

// A name of a file below a repository that is safe below any folder: parts between slashes that are
// neither empty nor ".", "..", and have no backslash or control character.
bool is_safe_file_name(std::string_view name);
// A branch, tag, "refs/pr/1" or commit that may name a file below refs/.
bool is_safe_revision(std::string_view revision);
bool is_commit(std::string_view text);  // 40 hex digits

}  // namespace kvik::hub
