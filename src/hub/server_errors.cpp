#include "hub/server_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "formats/byte_cursor.h"

namespace kvik::hub {
namespace {

constexpr double kFirstWait = 0.5, kLongestWait = 16, kLongestAskedFor = 120;

bool may_come_right(long status) {
    return status == 0 || status == 408 || status == 425 || status == 429 || status >= 500;
}

}  // namespace

std::optional<double> wait_before_retry(const HttpReply& reply, int n_tries) {
    const bool was_cut = !reply.trouble.empty();
    if (n_tries >= kMostTries || (!was_cut && !may_come_right(reply.status))) return std::nullopt;
    double wait = kFirstWait;
    for (int i = 1; i < n_tries; ++i) wait *= 2;
    wait = std::min(wait, kLongestWait);
    const std::string asked = reply.header("retry-after");
    uint32_t seconds = 0;
    const auto parsed = std::from_chars(asked.data(), asked.data() + asked.size(), seconds);
    if (parsed.ec == std::errc()) wait = std::max<double>(wait, seconds);
    if (wait > kLongestAskedFor) return std::nullopt;
    return wait;
}

Error server_error(const HttpReply& reply, const std::string& what, const HttpOptions& options) {
    const auto failed = [&](std::string_view why) {
        return Error{ErrorKind::failed, fmt::format("{}: {}", what, why)};
    };
    const std::string code = reply.header("x-error-code");
    const bool is_gated = code == "GatedRepo";
    if (reply.is_unreachable)
        return failed(
            fmt::format("{} cannot be reached: {} (check the network, the proxy and "
                        "HF_ENDPOINT)",
                        in_quotes(reply.url), reply.trouble));
    if (!reply.trouble.empty() || reply.status == 0)
        return failed(
            fmt::format("{} does not answer: {} (what came so far is kept, the same "
                        "command goes on with it)",
                        in_quotes(reply.url), reply.trouble));
    switch (reply.status) {
        case 401:
            if (!options.token.empty())
                return failed("the token is not accepted: make a new one and set HF_TOKEN");
            return failed(is_gated
                              ? "its owner asks for consent: accept the terms on its page, and "
                                "set HF_TOKEN to a token of yours"
                              : "there is no such repository, or it is private: check the "
                                "name, or set HF_TOKEN to a token that may read it");
        case 403:
            return failed(fmt::format("access is refused: {}",
                                      is_gated || !options.token.empty()
                                          ? "accept the terms on its page, or ask its owner"
                                          : "set HF_TOKEN to a token that may read it"));
        case 404:
            return failed(code == "RevisionNotFound" ? "there is no such revision: check what "
                                                       "follows @"
                          : code == "EntryNotFound"  ? "there is no such file at this revision"
                                                     : "there is no such repository or revision: "
                                                       "check the name");
        case 429:
            return failed(options.token.empty()
                              ? "too many requests: wait some minutes, or set HF_TOKEN"
                              : "too many requests: wait some minutes");
        default:
            return failed(fmt::format("the server answers with status {}{}", reply.status,
                                      reply.status >= 500 ? ": try again later" : ""));
    }
}

}  // namespace kvik::hub
