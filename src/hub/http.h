// HttpClient: GET and HEAD over HTTPS, with redirects that are looked at before they are followed.
//
// Use     one at a time; connections are kept for the next request.
// Errors  ErrorKind::cancelled: `stopped` said so. Failed: a redirect that is refused (to another
//         scheme, from https to http, too many), or what the sink says. Trouble on the way (no
//         connection, a cut, silence) is no error here: the reply tells it, and it may be tried again.
// Invariant the token goes to the endpoint's own scheme, host and port alone. Nothing but https is
//         spoken, and http where the endpoint's own address is http.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvik::hub {

struct HttpOptions {
    std::string endpoint;           // "https://huggingface.co"
    std::string token;              // empty: none
    std::string ca_file;            // empty: the system's
    uint32_t silence_s = 30;        // without a byte, after which a connection counts as lost
    std::function<bool()> stopped;  // asked some times a second
    int wake_fd = -1;               // readable when stopped() may have become true; -1: none
};

struct HttpRequest {
    std::string url;
    bool head_only = false;
    bool own_host_only = false;  // a redirect to another host is the reply, and not followed
    uint64_t from = 0;           // the first byte that is wanted
    std::string if_range;        // the ETag that the bytes before came with
};

struct HttpReply {
    long status = 0;                             // 0: there was none
    std::map<std::string, std::string> headers;  // by name in small letters
    std::string url;                             // that answered
    std::string trouble;                         // what cut it short; empty: it came to its end
    bool is_unreachable = false;                 // trouble: no such host, or nobody listens there

    std::string header(const std::string& name) const;
    bool is_success() const { return status >= 200 && status < 300; }
};

// Takes the body of a success, piece by piece; an error ends the request and is its error.
using BodySink = std::function<Result<void>(const HttpReply& head, std::string_view piece)>;

class HttpClient {
  public:
    static Result<HttpClient> create(HttpOptions options);
    HttpClient(HttpClient&&) noexcept;
    ~HttpClient();

    Result<HttpReply> send(const HttpRequest& request, const BodySink& sink);
    // Waits, or returns ErrorKind::cancelled before the time is over.
    Result<void> pause(double seconds);

  private:
    struct State;
    explicit HttpClient(std::unique_ptr<State> state);
    Result<HttpReply> send_once(const HttpRequest& request, const std::string& url,
                                const BodySink& sink);
    Result<std::optional<std::string>> next_url(const HttpRequest& request,
                                                const HttpReply& reply) const;

    std::unique_ptr<State> state_;
};

// A part of a path as it stands in an address: all but letters, digits, "-._~" and "/" escaped.
std::string escaped_path(std::string_view path);

}  // namespace kvik::hub
