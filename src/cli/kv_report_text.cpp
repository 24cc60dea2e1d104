#include "cli/kv_report_text.h"

#include <fmt/format.h>

#include "cli/json.h"
#include "cli/terminal.h"

namespace kvik::cli {
namespace {

std::string quoted(const std::string& text) {
    constexpr size_t kMostBytes = 24;
    if (text.size() <= kMostBytes) return fmt::format("\"{}\"", text);
    size_t end = kMostBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return fmt::format("\"{}...\"", text.substr(0, end));
}

std::string seconds(double ms) {
    return ms < 10'000 ? fmt::format("{:.0f} ms", ms) : fmt::format("{:.0f} s", ms / 1000);
}

std::string why(const KvSegment& segment, uint32_t at) {
    switch (segment.reason) {
        case KvReason::hit:
            return "";
        case KvReason::first_difference:
            if (segment.new_text.empty())
                return fmt::format("the first difference is at token {}", at);
            return fmt::format("at token {} the cache has {}, this prompt {}", at,
                               quoted(segment.old_text), quoted(segment.new_text));
        case KvReason::never_seen:
            return "not seen before";
        case KvReason::evicted:
            return fmt::format("evicted {} ago, to make room", seconds(segment.evicted_ms_ago));
        case KvReason::resume_point:
            return "layers with a sliding window no longer have their KV here";
        case KvReason::last_token:
            return "the output after the last token was not kept";
        case KvReason::salt:
            return "cached only for requests with another cache salt";
        case KvReason::cache_off:
            return "the cache is off";
    }
    return "";
}

std::string_view from(KvSource source) {
    switch (source) {
        case KvSource::ram:
            return "from memory";
        case KvSource::disk:
            return "from disk";
        case KvSource::computed:
            return "computed";
    }
    return "";
}

}  // namespace

std::vector<std::string> describe_lines(const KvReport& report) {
    std::vector<std::string> lines;
    uint32_t at = 0;
    for (const KvSegment& segment : report.segments) {
        const std::string reason = why(segment, at);
        lines.push_back(printable(fmt::format(
            "{:>6} {}  {}{}{}", segment.n_tokens, segment.n_tokens == 1 ? "token " : "tokens",
            from(segment.source), reason.empty() ? "" : ": ", reason)));
        at += segment.n_tokens;
    }
    if (report.saved_ms > 0)
        lines.push_back(fmt::format("       about {} saved", seconds(report.saved_ms)));
    return lines;
}

Json describe(const KvReport& report) {
    Json segments = Json::array();
    uint32_t at = 0;
    for (const KvSegment& segment : report.segments) {
        Json one = {{"at", at},
                    {"n_tokens", segment.n_tokens},
                    {"source", kv_source_name(segment.source)},
                    {"reason", kv_reason_name(segment.reason)}};
        if (segment.reason == KvReason::first_difference)
            one.update({{"old_ids", segment.old_ids},
                        {"new_ids", segment.new_ids},
                        {"old_text", segment.old_text},
                        {"new_text", segment.new_text}});
        if (segment.reason == KvReason::evicted) one["evicted_ms_ago"] = segment.evicted_ms_ago;
        segments.push_back(std::move(one));
        at += segment.n_tokens;
    }
    return {{"segments", std::move(segments)}, {"saved_ms", report.saved_ms}};
}

}  // namespace kvik::cli
