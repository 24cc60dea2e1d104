#include "kvik/kv_report.h"

namespace kvik {

std::string_view kv_source_name(KvSource source) {
    switch (source) {
        case KvSource::ram:
            return "ram";
        case KvSource::disk:
            return "disk";
        case KvSource::computed:
            return "computed";
    }
    return "";
}

std::string_view kv_reason_name(KvReason reason) {
    switch (reason) {
        case KvReason::hit:
            return "hit";
        case KvReason::first_difference:
            return "first_difference";
        case KvReason::never_seen:
            return "never_seen";
        case KvReason::evicted:
            return "evicted";
        case KvReason::resume_point:
            return "resume_point";
        case KvReason::last_token:
            return "last_token";
        case KvReason::salt:
            return "salt";
        case KvReason::cache_off:
            return "cache_off";
    }
    return "";
}

uint32_t KvReport::n_tokens(KvSource source) const {
    uint32_t n = 0;
    for (const KvSegment& segment : segments) n += segment.source == source ? segment.n_tokens : 0;
    return n;
}

}  // namespace kvik
