#include "engine/request/explain.h"

#include <algorithm>

#include "base/check.h"
#include "kvik/kv_report.h"
#include "text/detokenizer.h"

namespace kvik {

static constexpr size_t kShown = 8;  // tokens of each side of a difference

static std::string text_of(const Tokenizer* tokenizer, std::span<const TokenId> ids) {
    if (tokenizer == nullptr) return {};
    Detokenizer detokenizer(*tokenizer, Controls::shown);
    std::string text;
    for (const TokenId id : ids) text += detokenizer.push(id);
    return text + detokenizer.finish();
}

// Cuts the prompt into segments from left to right.
class Cutter {
  public:
    Cutter(const PromptFacts& facts, KvReport& report) : facts_(facts), report_(report) {}

    // Adds a segment up to `end` and returns it; null if it is empty.
    KvSegment* cut(uint32_t end, KvSource source, KvReason reason) {
        end = std::min(end, static_cast<uint32_t>(facts_.prompt.size()));
        if (end <= at_) return nullptr;
        if (!report_.segments.empty()) {
            KvSegment& last = report_.segments.back();
            if (last.source == source && last.reason == reason) {
                last.n_tokens += end - at_;
                at_ = end;
                return &last;
            }
        }
        report_.segments.push_back({.n_tokens = end - at_, .source = source, .reason = reason});
        at_ = end;
        return &report_.segments.back();
    }
    uint32_t at() const { return at_; }
    uint32_t end() const { return static_cast<uint32_t>(facts_.prompt.size()); }

  private:
    const PromptFacts& facts_;
    KvReport& report_;
    uint32_t at_ = 0;
};

// Explains the rest of the prompt, which is neither found nor known to have been there.
static void explain_rest(const PromptFacts& facts, const Tokenizer* tokenizer, Cutter& cutter) {
    const uint32_t at = cutter.at();
    if (facts.n_without_salt > at)
        cutter.cut(facts.n_without_salt, KvSource::computed, KvReason::salt);
    const auto& difference = facts.path.difference;
    if (!difference || difference->at != cutter.at()) {
        cutter.cut(cutter.end(), KvSource::computed, KvReason::never_seen);
        return;
    }
    KvSegment* segment = cutter.cut(cutter.end(), KvSource::computed, KvReason::first_difference);
    if (segment == nullptr) return;
    const std::span<const TokenId> rest = facts.prompt.subspan(difference->at);
    segment->new_ids.assign(rest.begin(), rest.begin() + std::min(kShown, rest.size()));
    segment->old_ids = difference->old_tokens;
    segment->old_ids.resize(std::min(kShown, segment->old_ids.size()));
    segment->new_text = text_of(tokenizer, segment->new_ids);
    segment->old_text = text_of(tokenizer, segment->old_ids);
}

KvReport explain(const PromptFacts& facts, const Tokenizer* tokenizer) {
    KvReport report;
    report.saved_ms = facts.saved_ms;
    Cutter cutter(facts, report);
    if (facts.cache == CachePolicy::off) {
        cutter.cut(cutter.end(), KvSource::computed, KvReason::cache_off);
        return report;
    }
    for (const FoundRun& run : facts.found)
        cutter.cut(cutter.at() + run.n_tokens, run.source, KvReason::hit);
    if (facts.lacks_logits) cutter.cut(cutter.end(), KvSource::computed, KvReason::last_token);
    cutter.cut(facts.path.n_resident, KvSource::computed, KvReason::resume_point);
    if (KvSegment* evicted = cutter.cut(facts.path.n_known, KvSource::computed, KvReason::evicted))
        evicted->evicted_ms_ago = std::max(0.0, facts.now_ms - facts.path.evicted_ms);
    explain_rest(facts, tokenizer, cutter);
    KVIK_CHECK(cutter.at() == cutter.end(), "a report speaks of every token");
    return report;
}

// ---- names, and KvReport ----

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
