#include "tier/segment_table.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"

namespace kvik {
namespace {

constexpr uint32_t kOffsetBits = 34;
static_assert((kMostSegmentBytes / kRecordAlign) >> kOffsetBits <= 1);

}  // namespace

TierRef tier_ref(uint32_t segment, uint64_t offset) {
    KVIK_CHECK(
        offset % kRecordAlign == 0 && offset < kMostSegmentBytes && segment < (uint32_t{1} << 29),
        "a offset on disk fits its reference");
    return (TierRef{segment} + 1) << kOffsetBits | offset / kRecordAlign;
}

uint32_t segment_of(TierRef ref) {
    return static_cast<uint32_t>((ref >> kOffsetBits) - 1);
}

uint64_t offset_of(TierRef ref) {
    return (ref & ((TierRef{1} << kOffsetBits) - 1)) * kRecordAlign;
}

uint32_t SegmentTable::add(const std::string& path, const SegmentHeader& header) {
    const std::scoped_lock lock(mutex_);
    segments_.push_back({.path = path, .header = header});
    return static_cast<uint32_t>(segments_.size() - 1);
}

std::optional<OpenSegment> SegmentTable::open(uint32_t number) {
    const std::scoped_lock lock(mutex_);
    if (number >= segments_.size() || segments_[number].gone) return {};
    Segment& segment = segments_[number];
    const auto at = std::ranges::find(opened_, number, &Opened::first);
    if (at != opened_.end()) {
        opened_.splice(opened_.begin(), opened_, at);
        return OpenSegment{at->second, segment.header};
    }
    std::shared_ptr<const DiskFile> file = files_.open(segment.path, FileAccess::read);
    if (!file) {
        if (errno == ENOENT || errno == ENOTDIR) lose(number);
        return {};
    }
    if (!std::exchange(segment.used, true)) file->note_use();
    if (opened_.size() == kMostOpen) opened_.pop_back();
    opened_.emplace_front(number, std::move(file));
    return OpenSegment{opened_.front().second, segment.header};
}

void SegmentTable::note_gone(const std::string& path) {
    const std::scoped_lock lock(mutex_);
    for (uint32_t i = 0; i < segments_.size(); ++i)
        if (segments_[i].path == path) lose(i);
}

void SegmentTable::note_gone(uint32_t number) {
    const std::scoped_lock lock(mutex_);
    lose(number);
}

void SegmentTable::lose(uint32_t number) {
    if (std::exchange(segments_[number].gone, true)) return;
    ++n_gone_;
    std::erase_if(opened_, [&](const Opened& opened) { return opened.first == number; });
}

bool SegmentTable::has_gone(uint32_t number) const {
    const std::scoped_lock lock(mutex_);
    return number >= segments_.size() || segments_[number].gone;
}

uint32_t SegmentTable::take_gone() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(n_gone_, 0);
}

}  // namespace kvik
