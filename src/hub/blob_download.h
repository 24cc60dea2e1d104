// BlobDownload: one file into the cache's blobs, resumed where it broke off, checked while it comes.
//
// Shape   [lock] -> the part that is here, hashed -> GET with Range -> hash and write -> the checksum
//         must fit -> the blob gets its name.
// Errors  as pull.h. A checksum that does not fit removes the part; where the part was of an earlier
//         try, the file is fetched once more from its start.
// Invariant no more than the expected bytes are written, and none at a place that they were not sent
//         for.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "hub/content_check.h"
#include "hub/hf_cache.h"
#include "hub/http.h"

namespace kvik::hub {

struct BlobSource {
    std::string url;
    std::string what;  // for messages: "model.gguf of OWNER/REPO"
    std::string checksum;
    uint64_t bytes = 0;
};

// Where the work reports to.
struct BlobWatch {
    std::function<void(uint64_t done_bytes, uint64_t n_new, bool is_check)> progress;
    std::function<void(const std::string&)> tell;
};

class BlobDownload {
  public:
    BlobDownload(HttpClient& http, const HttpOptions& options, const HfCache& cache,
                 BlobSource source, const BlobWatch& watch);

    Result<void> run();

  private:
    Result<OpenFile> lock();
    Result<void> read_what_is_here();
    Result<void> start_over();
    Result<void> fetch();
    Result<void> take(const HttpReply& head, std::string_view piece);
    Result<void> check_head(const HttpReply& head);
    Result<void> write(std::string_view piece);
    Result<bool> is_right();  // the checksum; false: the part is gone

    HttpClient& http_;
    const HttpOptions& options_;
    const HfCache& cache_;
    BlobSource source_;
    const BlobWatch& watch_;
    OpenFile file_;
    ContentCheck check_;
    uint64_t n_here_ = 0;
    bool is_head_checked_ = false;  // of the reply that is coming in
    std::string etag_, etag_url_;   // of the last reply, for If-Range
};

}  // namespace kvik::hub
