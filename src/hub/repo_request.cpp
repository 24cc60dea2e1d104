#include "hub/repo_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/byte_cursor.h"
#include "formats/utf8.h"

namespace kvik::hub {
namespace {

constexpr size_t kMostNameBytes = 96;
constexpr size_t kMostPartBytes = 255;  // of a file's name on a disk
constexpr size_t kMostPathBytes = 1024;

// What Hugging Face allows as the name of an owner or a repository.
bool is_name(std::string_view text) {
    const auto is_allowed = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '-' || c == '_' || c == '.';
    };
    if (text.empty() || text.size() > kMostNameBytes) return false;
    if (!std::all_of(text.begin(), text.end(), is_allowed)) return false;
    const auto is_mark = [](char c) { return c == '-' || c == '.'; };
    return !is_mark(text.front()) && !is_mark(text.back()) && text.find("--") == text.npos &&
           text.find("..") == text.npos;
}

tl::unexpected<Error> not_a_request(std::string_view text, std::string_view what) {
    return fail(ErrorKind::usage,
                fmt::format("{} {}: give hf:OWNER/REPO, hf:OWNER/REPO:QUANT or "
                            "hf:OWNER/REPO/FILE, with @REVISION after REPO if need be",
                            in_quotes(text), what));
}

// Takes what is before the first of `ends` off the front of `text`.
std::string take_until(std::string_view& text, std::string_view ends) {
    const size_t end = std::min(text.find_first_of(ends), text.size());
    std::string taken(text.substr(0, end));
    text.remove_prefix(end);
    return taken;
}

// REV, which goes to a colon or a slash; "refs/pr/1" has slashes of its own.
std::string take_revision(std::string_view& text) {
    std::string revision = take_until(text, ":/");
    for (int i = 0; i < 2 && revision.starts_with("refs") && text.starts_with('/'); ++i) {
        text.remove_prefix(1);
        revision += "/" + take_until(text, ":/");
    }
    return revision;
}

// "/blob/REV/FILE" of a page's address, also with "?download=true".
void take_page(std::string_view& rest, RepoRequest& request) {
    for (const std::string_view view : {"/blob/", "/resolve/", "/tree/"}) {
        if (!rest.starts_with(view)) continue;
        rest.remove_prefix(view.size());
        request.revision = take_until(rest, "/?#");
        break;
    }
    rest = rest.substr(0, std::min(rest.find_first_of("?#"), rest.size()));
    if (rest == "/") rest = {};
}

}  // namespace

bool is_safe_file_name(std::string_view name) {
    if (name.empty() || name.size() > kMostPathBytes || !is_utf8(name)) return false;
    for (const char c : name)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\') return false;
    for (std::string_view rest = name;;) {
        const size_t end = std::min(rest.find('/'), rest.size());
        const std::string_view part = rest.substr(0, end);
        if (part.empty() || part == "." || part == ".." || part.size() > kMostPartBytes)
            return false;
        if (end == rest.size()) return true;
        rest.remove_prefix(end + 1);
    }
}

bool is_safe_revision(std::string_view revision) {
    return is_safe_file_name(revision) && revision.find_first_of(" ?#%:@") == revision.npos &&
           !revision.starts_with('-') && !revision.starts_with('.');
}

bool is_commit(std::string_view text) {
    return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string RepoRequest::folder() const {
    std::string name = "models--" + repository;
    if (const size_t at = name.find('/'); at != name.npos) name.replace(at, 1, "--");
    return name;
}

Result<RepoRequest> parse_repo_request(std::string_view text) {
    std::string_view rest = text;
    bool is_page = false;
    for (const std::string_view before : {"hf://", "hf:", "https://", "http://"})
        if (rest.starts_with(before)) {
            is_page = before.ends_with("s://") || before == "http://";
            rest.remove_prefix(before.size());
            break;
        }
    const bool has_host = rest.starts_with("hf.co/") || rest.starts_with("huggingface.co/");
    if (has_host) rest.remove_prefix(rest.find('/') + 1);
    if (is_page && !has_host) return not_a_request(text, "is no address at huggingface.co");
    RepoRequest request;
    const std::string owner = take_until(rest, "/@:");
    if (!rest.starts_with('/'))
        return not_a_request(text,
                             "has no owner (a model of Ollama's is fetched with ollama pull)");
    rest.remove_prefix(1);
    const std::string repository = take_until(rest, "/@:?#");
    if (!is_name(owner) || !is_name(repository))
        return not_a_request(text, "is no name of a repository");
    request.repository = owner + "/" + repository;
    if (is_page) take_page(rest, request);
    if (rest.starts_with('@')) {
        rest.remove_prefix(1);
        request.revision = take_revision(rest);
        if (request.revision.empty()) return not_a_request(text, "has no revision after @");
    }
    if (!request.revision.empty() && !is_safe_revision(request.revision))
        return not_a_request(text, "has a revision that is none");
    if (rest.empty()) return request;
    const char mark = rest.front();
    rest.remove_prefix(1);
    if (mark == ':') request.quant = rest;
    if (mark == '/') request.file = rest;
    if ((mark == ':' && (!is_safe_file_name(rest) || rest.find('/') != rest.npos)) ||
        (mark == '/' && !is_safe_file_name(rest)) || (mark != ':' && mark != '/'))
        return not_a_request(text, "has neither a QUANT nor a FILE at its end");
    return request;
}

}  // namespace kvik::hub
