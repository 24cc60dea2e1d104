#include "hub/pull.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "formats/byte_cursor.h"
#include "hub/blob_download.h"
#include "hub/choose_files.h"
#include "hub/content_check.h"
#include "hub/hf_cache.h"
#include "hub/repo_listing.h"
#include "hub/server_errors.h"

namespace kvik::hub {
namespace {

constexpr size_t kMostListingBytes = 64 << 20;
constexpr uint64_t kSpareBytes = 16 << 20;

// `"ETAG"` or `W/"ETAG"`.
std::string bare_etag(std::string text) {
    if (text.starts_with("W/")) text.erase(0, 2);
    std::erase(text, '"');
    return text;
}

class Puller {
  public:
    Puller(PullOptions options, HttpClient http)
        : options_(std::move(options)),
          http_(std::move(http)),
          cache_(options_.cache, options_.request.folder()) {}

    Result<PulledModel> run();

  private:
    Result<HttpReply> ask(const HttpRequest& request, std::string& body, const std::string& what);
    Result<RepoListing> list();
    Result<BlobSource> find_source(const RepoFile& file, const std::string& commit);
    Result<void> check_room(const std::vector<BlobSource>& sources);
    Result<void> fetch(const std::vector<RepoFile>& files, const std::vector<BlobSource>& sources,
                       const std::string& commit);
    std::string revision() const {
        return options_.request.revision.empty() ? "main" : options_.request.revision;
    }

    PullOptions options_;
    HttpClient http_;
    HfCache cache_;
    uint64_t n_done_ = 0, n_total_ = 0, n_fetched_ = 0;
};

// A success or a redirect, asked for again while that may help; `body` is all of a success's.
Result<HttpReply> Puller::ask(const HttpRequest& request, std::string& body,
                              const std::string& what) {
    const auto sink = [&](const HttpReply&, std::string_view piece) -> Result<void> {
        if (body.size() + piece.size() > kMostListingBytes)
            return fail(ErrorKind::failed, fmt::format("{}: the answer is longer than {} MiB", what,
                                                       kMostListingBytes >> 20));
        body += piece;
        return {};
    };
    for (int n_tries = 1;; ++n_tries) {
        body.clear();
        KVIK_TRY(HttpReply reply, http_.send(request, sink));
        const bool is_redirect = reply.status >= 300 && reply.status < 400;
        if (reply.trouble.empty() && (reply.is_success() || is_redirect)) return reply;
        // A server that was never reached is a wrong name or no network: that does not pass.
        const auto wait = reply.is_unreachable ? std::nullopt : wait_before_retry(reply, n_tries);
        if (!wait) return tl::unexpected(server_error(reply, what, options_.http));
        options_.tell(fmt::format(
            "{}: {}, trying again in {:.1f} s", what,
            reply.trouble.empty() ? fmt::format("status {}", reply.status) : reply.trouble, *wait));
        KVIK_TRY_VOID(http_.pause(*wait));
    }
}

Result<RepoListing> Puller::list() {
    const std::string& repository = options_.request.repository;
    std::string rev = escaped_path(revision());
    for (size_t at = rev.find('/'); at != rev.npos; at = rev.find('/', at))
        rev.replace(at, 1, "%2F");
    const HttpRequest request{.url = fmt::format("{}/api/models/{}/revision/{}?blobs=true",
                                                 options_.http.endpoint, escaped_path(repository),
                                                 rev)};
    std::string body;
    KVIK_TRY(const HttpReply reply, ask(request, body, repository));
    if (!reply.is_success()) return tl::unexpected(server_error(reply, repository, options_.http));
    return parse_listing(body, request.url);
}

// The address of a file at the commit, its checksum and its size, as server and listing agree.
Result<BlobSource> Puller::find_source(const RepoFile& file, const std::string& commit) {
    const std::string& repository = options_.request.repository;
    BlobSource source{.url = fmt::format("{}/{}/resolve/{}/{}", options_.http.endpoint,
                                         escaped_path(repository), commit, escaped_path(file.name)),
                      .what = fmt::format("{} of {}", file.name, repository),
                      .checksum = file.sha256.empty() ? file.git_sha1 : file.sha256,
                      .bytes = file.bytes};
    const HttpRequest request{.url = source.url, .head_only = true, .own_host_only = true};
    std::string no_body;
    KVIK_TRY(const HttpReply head, ask(request, no_body, source.what));
    const auto differs = [&](std::string_view what, std::string_view listed,
                             std::string_view said) {
        return fail(ErrorKind::failed,
                    fmt::format("{}: its {} is {} in the list of files and {} at its address: try "
                                "again, or another HF_ENDPOINT",
                                source.what, what, listed, in_quotes(said)));
    };
    const std::string linked = head.header("x-linked-etag");
    const std::string etag = bare_etag(linked.empty() ? head.header("etag") : linked);
    if (ContentCheck::is_checksum(etag)) {
        if (source.checksum.empty()) source.checksum = etag;
        if (source.checksum != etag) return differs("checksum", source.checksum, etag);
    }
    std::string size = head.header("x-linked-size");
    if (size.empty() && head.is_success()) size = head.header("content-length");
    uint64_t n_bytes = 0;
    if (std::from_chars(size.data(), size.data() + size.size(), n_bytes).ec == std::errc()) {
        if (source.bytes == 0) source.bytes = n_bytes;
        if (source.bytes != n_bytes) return differs("size", std::to_string(source.bytes), size);
    }
    if (const std::string at = head.header("x-repo-commit"); !at.empty() && at != commit)
        return differs("commit", commit, at);
    if (source.checksum.empty())
        return fail(ErrorKind::failed,
                    fmt::format("{}: the server names no checksum, so it could not be checked: use "
                                "another HF_ENDPOINT",
                                source.what));
    return source;
}

Result<void> Puller::check_room(const std::vector<BlobSource>& sources) {
    uint64_t n_needed = 0;
    for (const BlobSource& source : sources) {
        const uint64_t here = cache_.bytes_here(source.checksum);
        if (source.bytes > (uint64_t{1} << 50))
            return fail(ErrorKind::failed,
                        fmt::format("{}: a size of {} bytes is none", source.what, source.bytes));
        n_needed += source.bytes - std::min(here, source.bytes);
    }
    if (n_needed == 0) return {};
    KVIK_TRY(const uint64_t n_free, cache_.free_bytes());
    if (n_free >= n_needed + kSpareBytes) return {};
    return fail(
        ErrorKind::file,
        fmt::format("{} needs {:.2f} GB in {}, {:.2f} GB are free: make room, take a "
                    "smaller QUANT, or set HF_HOME to a folder on another disk",
                    options_.request.repository, static_cast<double>(n_needed + kSpareBytes) / 1e9,
                    options_.cache, static_cast<double>(n_free) / 1e9));
}

Result<void> Puller::fetch(const std::vector<RepoFile>& files,
                           const std::vector<BlobSource>& sources, const std::string& commit) {
    for (size_t i = 0; i < files.size(); ++i) {
        const uint64_t before = n_done_;
        const BlobWatch watch{.progress =
                                  [&](uint64_t done, uint64_t n_new, bool is_check) {
                                      n_fetched_ += n_new;
                                      options_.progress({files[i].name, is_check, before + done,
                                                         n_total_, n_fetched_});
                                  },
                              .tell = options_.tell};
        BlobDownload download(http_, options_.http, cache_, sources[i], watch);
        KVIK_TRY_VOID(download.run());
        KVIK_TRY_VOID(cache_.link(commit, files[i].name, sources[i].checksum));
        n_done_ = before + sources[i].bytes;
    }
    return {};
}

Result<PulledModel> Puller::run() {
    KVIK_TRY(const RepoListing listing, list());
    if (listing.n_unsafe > 0)
        options_.tell(
            fmt::format("{} of the names that the server lists cannot be used", listing.n_unsafe));
    KVIK_TRY(const ChosenFiles chosen, choose_files(listing, options_.request));
    KVIK_TRY_VOID(cache_.make_folders());
    std::vector<BlobSource> sources;
    for (const RepoFile& file : chosen.files) {
        KVIK_TRY(BlobSource source, find_source(file, listing.commit));
        n_total_ += source.bytes;
        sources.push_back(std::move(source));
    }
    KVIK_TRY_VOID(check_room(sources));
    KVIK_TRY_VOID(fetch(chosen.files, sources, listing.commit));
    if (!is_commit(revision())) KVIK_TRY_VOID(cache_.set_ref(revision(), listing.commit));
    const std::string folder = cache_.snapshot(listing.commit);
    return PulledModel{.path = chosen.first.empty() ? folder : folder + "/" + chosen.first,
                       .name = chosen.name,
                       .commit = listing.commit,
                       .bytes = n_total_,
                       .fetched_bytes = n_fetched_,
                       .n_files = static_cast<uint32_t>(chosen.files.size())};
}

}  // namespace

Result<PulledModel> pull(PullOptions options) {
    if (options.cache.empty())
        return fail(ErrorKind::usage,
                    "there is no folder for models: set HF_HOME, as HOME is not set either");
    while (options.http.endpoint.ends_with('/')) options.http.endpoint.pop_back();
    KVIK_TRY(HttpClient http, HttpClient::create(options.http));
    return Puller(std::move(options), std::move(http)).run();
}

}  // namespace kvik::hub
