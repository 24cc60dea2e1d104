// HfCache: one repository in the Hugging Face cache, written so that Python's huggingface_hub and
// transformers find what kvik fetched, and the other way round.
//
// Shape   models--OWNER--REPO/: blobs/CHECKSUM, snapshots/COMMIT/FILE as a link to a blob, refs/REV
//         with a commit in it; beside it .locks/models--OWNER--REPO/CHECKSUM.lock. A blob that is
//         not whole is CHECKSUM.incomplete.
// Errors  ErrorKind::file, naming the path and what to do.
// Invariant a name in blobs/, snapshots/ or refs/ appears in one step, whole.
// Source  huggingface_hub 2.4.0.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace kvik::hub {

// An open file, closed with its owner.
class OpenFile {
  public:
    explicit OpenFile(int fd = -1) : fd_(fd) {}
    OpenFile(OpenFile&& other) noexcept;
    OpenFile& operator=(OpenFile&& other) noexcept;
    ~OpenFile();
    int get() const { return fd_; }

  private:
    int fd_;
};

class HfCache {
  public:
    // `folder`: RepoRequest::folder(). Nothing is made until something is written.
    HfCache(std::string cache, std::string folder);

    std::string blob(const std::string& checksum) const;
    std::string incomplete(const std::string& checksum) const {
        return blob(checksum) + ".incomplete";
    }
    std::string snapshot(const std::string& commit) const;
    uint64_t bytes_here(const std::string& checksum) const;  // of the blob or what there is of it
    bool has_blob(const std::string& checksum, uint64_t n_bytes) const;

    Result<void> make_folders() const;
    Result<uint64_t> free_bytes() const;
    // An exclusive lock (flock) as long as the file is open; one that is not open: another process
    // has it. Where a file system has no locks, none is taken.
    Result<OpenFile> try_lock(const std::string& checksum, bool& is_taken) const;
    // The part that is there, or an empty new one, for reading and writing.
    Result<OpenFile> open_incomplete(const std::string& checksum) const;
    Result<void> finish_blob(const OpenFile& file, const std::string& checksum) const;
    Result<void> link(const std::string& commit, const std::string& name,
                      const std::string& checksum) const;
    Result<void> set_ref(const std::string& revision, const std::string& commit) const;

  private:
    std::string root_, locks_;
};

}  // namespace kvik::hub
