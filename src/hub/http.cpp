#include "hub/http.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "formats/byte_cursor.h"
#include "hub/file_names.h"

namespace kvik::hub {
namespace {

constexpr int kMostRedirects = 8;
constexpr size_t kMostHeaderBytes = 1 << 20;  // of all headers of a reply
constexpr size_t kMostUnreadBytes = 1 << 16;  // of a body that nobody wants
constexpr int kAskStoppedMs = 200;

struct EasyDeleter {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct MultiDeleter {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct UrlDeleter {
    void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
struct ListDeleter {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Url = std::unique_ptr<CURLU, UrlDeleter>;
using List = std::unique_ptr<curl_slist, ListDeleter>;

std::string part_of_url(CURLU* url, CURLUPart part, unsigned flags) {
    char* text = nullptr;
    if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return "";
    std::string out(text);
    curl_free(text);
    return out;
}

// "https://host:443"; empty: it is no address.
struct Origin {
    std::string scheme, host_and_port;
    bool operator==(const Origin&) const = default;
};

Origin origin_of(const std::string& address) {
    const Url url(curl_url());
    if (curl_url_set(url.get(), CURLUPART_URL, address.c_str(), CURLU_NON_SUPPORT_SCHEME) !=
        CURLUE_OK)
        return {};
    return {lower(part_of_url(url.get(), CURLUPART_SCHEME, 0)),
            lower(part_of_url(url.get(), CURLUPART_HOST, 0)) + ":" +
                part_of_url(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT)};
}

// A reply that is coming in.
struct Transfer {
    HttpReply reply;
    const BodySink* sink = nullptr;
    Result<void> sunk;
    size_t n_header_bytes = 0, n_unread = 0;
};

size_t take_header(char* data, size_t size, size_t n, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    const std::string_view line(data, size * n);
    transfer.n_header_bytes += line.size();
    if (transfer.n_header_bytes > kMostHeaderBytes) return 0;
    if (line.starts_with("HTTP/")) {  // the last of several, after "100 Continue" or a proxy's
        transfer.reply.headers.clear();
        return line.size();
    }
    const size_t colon = line.find(':');
    if (colon == line.npos) return line.size();
    std::string_view value = line.substr(colon + 1);
    const size_t begin = std::min(value.find_first_not_of(" \t"), value.size());
    value.remove_prefix(begin);
    while (!value.empty() && static_cast<unsigned char>(value.back()) <= ' ')
        value.remove_suffix(1);
    transfer.reply.headers[lower(line.substr(0, colon))] = std::string(value);
    return line.size();
}

struct Writing {
    Transfer* transfer;
    CURL* easy;
};

size_t take_body(char* data, size_t size, size_t n, void* user) {
    const auto& writing = *static_cast<Writing*>(user);
    Transfer& transfer = *writing.transfer;
    const size_t n_bytes = size * n;
    curl_easy_getinfo(writing.easy, CURLINFO_RESPONSE_CODE, &transfer.reply.status);
    if (!transfer.reply.is_success()) {
        transfer.n_unread += n_bytes;
        return transfer.n_unread > kMostUnreadBytes ? 0 : n_bytes;
    }
    transfer.sunk = (*transfer.sink)(transfer.reply, {data, n_bytes});
    return transfer.sunk ? n_bytes : 0;
}

List headers_of(const HttpRequest& request, const std::string& token) {
    curl_slist* list = nullptr;
    const auto add = [&list](const std::string& line) {
        list = curl_slist_append(list, line.c_str());
    };
    add("Accept-Encoding: identity");
    if (!token.empty()) add("Authorization: Bearer " + token);
    if (request.from > 0) add(fmt::format("Range: bytes={}-", request.from));
    if (request.from > 0 && !request.if_range.empty()) add("If-Range: " + request.if_range);
    return List(list);
}

tl::unexpected<Error> stopped_by_user() {
    return fail(ErrorKind::cancelled, "interrupted");
}

}  // namespace

struct HttpClient::State {
    HttpOptions options;
    Origin endpoint;
    std::unique_ptr<CURLM, MultiDeleter> multi;
    std::unique_ptr<CURL, EasyDeleter> easy;

    bool is_stopped() const { return options.stopped && options.stopped(); }
    void set_up(CURL* handle, const std::string& url) const;
    Result<CURLcode> perform(CURL* handle) const;
};

HttpClient::HttpClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

std::string HttpReply::header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
}

std::string escaped_path(std::string_view path) {
    std::string out;
    for (const char c : path) {
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                           (c >= 'A' && c <= 'Z') ||
                           std::string_view("-._~/").find(c) != std::string_view::npos;
        if (plain)
            out += c;
        else
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

Result<HttpClient> HttpClient::create(HttpOptions options) {
    static const CURLcode begun = curl_global_init(CURL_GLOBAL_DEFAULT);
    auto state = std::make_unique<State>();
    state->endpoint = origin_of(options.endpoint);
    if (state->endpoint.scheme != "https" && state->endpoint.scheme != "http")
        return fail(ErrorKind::usage,
                    fmt::format("HF_ENDPOINT is {}: give an address that begins with https://",
                                in_quotes(options.endpoint)));
    for (const char c : options.token)
        if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f)
            return fail(ErrorKind::usage,
                        "the token (HF_TOKEN or its file) has a blank or a "
                        "control character in it: copy it again");
    state->options = std::move(options);
    state->multi.reset(curl_multi_init());
    state->easy.reset(curl_easy_init());
    if (begun != CURLE_OK || !state->multi || !state->easy)
        return fail(ErrorKind::failed, "libcurl cannot be started");
    return HttpClient(std::move(state));
}

void HttpClient::State::set_up(CURL* handle, const std::string& url) const {
    curl_easy_reset(handle);
    const long silence = options.silence_s;
    curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR,
                     endpoint.scheme == "http" ? "http,https" : "https");
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_USERAGENT, "kvik");
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, silence);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, silence);
    if (!options.ca_file.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, options.ca_file.c_str());
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
}

Result<CURLcode> HttpClient::State::perform(CURL* handle) const {
    curl_multi_add_handle(multi.get(), handle);
    Result<CURLcode> result = CURLE_OK;
    for (int n_running = 1; n_running > 0;) {
        curl_multi_perform(multi.get(), &n_running);
        int n_left = 0;
        while (const CURLMsg* message = curl_multi_info_read(multi.get(), &n_left))
            if (message->msg == CURLMSG_DONE) result = message->data.result;
        if (is_stopped()) {
            result = stopped_by_user();
            break;
        }
        curl_waitfd wake = {options.wake_fd, CURL_WAIT_POLLIN, 0};
        if (n_running > 0)
            curl_multi_poll(multi.get(), &wake, options.wake_fd >= 0 ? 1 : 0, kAskStoppedMs,
                            nullptr);
    }
    curl_multi_remove_handle(multi.get(), handle);
    return result;
}

Result<HttpReply> HttpClient::send_once(const HttpRequest& request, const std::string& url,
                                        const BodySink& sink) {
    CURL* easy = state_->easy.get();
    Transfer transfer{.sink = &sink};
    transfer.reply.url = url;
    Writing writing{&transfer, easy};
    const bool is_own = origin_of(url) == state_->endpoint;
    const List headers = headers_of(request, is_own ? state_->options.token : "");
    char reason[CURL_ERROR_SIZE] = "";
    state_->set_up(easy, url);
    curl_easy_setopt(easy, CURLOPT_NOBODY, request.head_only ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &writing);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, reason);
    const auto code = state_->perform(easy);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &transfer.reply.status);
    curl_easy_reset(easy);
    if (!code) return tl::unexpected(code.error());
    KVIK_TRY_VOID(transfer.sunk);
    if (*code == CURLE_UNSUPPORTED_PROTOCOL || *code == CURLE_URL_MALFORMAT)
        return fail(ErrorKind::failed,
                    fmt::format("{} is no address to fetch from", in_quotes(url)));
    if (*code == CURLE_PEER_FAILED_VERIFICATION || *code == CURLE_SSL_CACERT_BADFILE)
        return fail(ErrorKind::failed,
                    fmt::format("{}: {}: CURL_CA_BUNDLE may name a file of certificates to trust",
                                in_quotes(url), *reason != 0 ? reason : curl_easy_strerror(*code)));
    const bool unread = transfer.n_unread > kMostUnreadBytes;
    if (*code != CURLE_OK && !unread)
        transfer.reply.trouble = *reason != 0 ? reason : curl_easy_strerror(*code);
    transfer.reply.is_unreachable = *code == CURLE_COULDNT_RESOLVE_HOST ||
                                    *code == CURLE_COULDNT_RESOLVE_PROXY ||
                                    *code == CURLE_COULDNT_CONNECT;
    return std::move(transfer.reply);
}

// Where a redirect leads, if it is one that is followed.
Result<std::optional<std::string>> HttpClient::next_url(const HttpRequest& request,
                                                        const HttpReply& reply) const {
    constexpr long kRedirects[] = {301, 302, 303, 307, 308};
    const bool redirects = std::find(std::begin(kRedirects), std::end(kRedirects), reply.status) !=
                           std::end(kRedirects);
    const std::string location = reply.header("location");
    if (!redirects || location.empty()) return std::nullopt;
    const Url url(curl_url());
    curl_url_set(url.get(), CURLUPART_URL, reply.url.c_str(), 0);
    const bool is_address = curl_url_set(url.get(), CURLUPART_URL, location.c_str(),
                                         CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK;
    const std::string next = is_address ? part_of_url(url.get(), CURLUPART_URL, 0) : "";
    const Origin to = origin_of(next);
    if (request.own_host_only && !(to == state_->endpoint)) return std::nullopt;
    const bool allowed =
        to.scheme == "https" || (to.scheme == "http" && state_->endpoint.scheme == "http");
    if (!allowed)
        return fail(ErrorKind::failed,
                    fmt::format("{} redirects to {}, which is refused: only https is followed",
                                in_quotes(reply.url), in_quotes(location)));
    return next;
}

Result<HttpReply> HttpClient::send(const HttpRequest& request, const BodySink& sink) {
    std::string url = request.url;
    for (int i = 0; i <= kMostRedirects; ++i) {
        KVIK_TRY(HttpReply reply, send_once(request, url, sink));
        if (!reply.trouble.empty()) return reply;
        KVIK_TRY(const auto next, next_url(request, reply));
        if (!next) return reply;
        url = *next;
    }
    return fail(ErrorKind::failed, fmt::format("{} redirects more than {} times",
                                               in_quotes(request.url), kMostRedirects));
}

Result<void> HttpClient::pause(double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    if (state_->is_stopped()) return stopped_by_user();
    while (Clock::now() < end) {
        const std::chrono::duration<double, std::milli> left = end - Clock::now();
        pollfd wake = {state_->options.wake_fd, POLLIN, 0};
        ::poll(&wake, state_->options.wake_fd >= 0 ? 1 : 0,
               std::clamp(static_cast<int>(left.count()), 1, kAskStoppedMs));
        if (state_->is_stopped()) return stopped_by_user();
    }
    return {};
}

}  // namespace kvik::hub
