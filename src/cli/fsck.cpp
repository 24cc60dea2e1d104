#include <fmt/format.h>

#include <algorithm>

#include "cli/flags/inspect_flags.h"
#include "cli/json.h"
#include "cli/terminal.h"
#include "cli/values.h"
#include "cli/verbs.h"
#include "tier/check_folder.h"

namespace kvik::cli {
namespace {

std::string_view word_of(SegmentState state) {
    switch (state) {
        case SegmentState::sound:
            return "sound";
        case SegmentState::torn:
            return "torn";
        case SegmentState::damaged:
            return "damaged";
        case SegmentState::unknown:
            return "unknown";
        case SegmentState::unread:
            return "unread";
        case SegmentState::denied:
            return "denied";
    }
    return "";
}

std::string_view word_of(Repaired repaired) {
    switch (repaired) {
        case Repaired::no:
            return "no";
        case Repaired::cut:
            return "cut";
        case Repaired::copied:
            return "copied";
        case Repaired::deleted:
            return "deleted";
        case Repaired::failed:
            return "failed";
        case Repaired::in_use:
            return "in_use";
    }
    return "";
}

// What a reader should know of a segment besides its numbers.
std::string finding_of(const CheckedSegment& segment) {
    switch (segment.state) {
        case SegmentState::sound:
            return segment.is_in_use ? "sound, being written" : "sound";
        case SegmentState::torn:
            return segment.is_in_use
                       ? "sound, being written"
                       : fmt::format("torn: {} bytes of an unfinished record", segment.bytes_lost);
        case SegmentState::damaged:
            return fmt::format("damaged: {} lost, {} bytes without a sound record",
                               counted(segment.n_damaged, "record"), segment.bytes_lost);
        case SegmentState::unknown:
            return "of another version of kvik, left alone";
        case SegmentState::unread:
            return "cannot be read";
        case SegmentState::denied:
            return "not checked: another user's, who lets nobody else read it";
    }
    return "";
}

std::string remedy_of(Repaired repaired) {
    switch (repaired) {
        case Repaired::no:
            return "";
        case Repaired::cut:
            return "; cut off";
        case Repaired::copied:
            return "; replaced by a copy of what is sound";
        case Repaired::deleted:
            return "; deleted";
        case Repaired::failed:
            return "; could not be repaired";
        case Repaired::in_use:
            return "; not repaired while it is written";
    }
    return "";
}

struct Totals {
    uint64_t n_records = 0;
    uint64_t n_bytes = 0;
    uint64_t n_damaged = 0;  // segments
};

Totals totals_of(const std::vector<CheckedSegment>& segments) {
    Totals totals;
    for (const CheckedSegment& segment : segments) {
        totals.n_records += segment.n_records;
        totals.n_bytes += segment.n_bytes;
        totals.n_damaged += is_damaged(segment);
    }
    return totals;
}

std::string as_text(const std::vector<CheckedSegment>& segments, const std::string& folder) {
    std::string text;
    for (const CheckedSegment& segment : segments)
        text += fmt::format("{}  {:>5} records {:>12} bytes  {}{}\n", printable(segment.name),
                            segment.n_records, segment.n_bytes, finding_of(segment),
                            remedy_of(segment.repaired));
    const Totals totals = totals_of(segments);
    text += fmt::format("{}: {}, {}, {} bytes\n", printable(folder),
                        counted(segments.size(), "segment"), counted(totals.n_records, "record"),
                        totals.n_bytes);
    if (totals.n_damaged == 0) return text + "ok\n";
    return text + fmt::format(
                      "{} damaged: no wrong token comes of it; kvik fsck --repair clears it away\n",
                      counted(totals.n_damaged, "segment"));
}

std::string as_json(const std::vector<CheckedSegment>& segments, const std::string& folder) {
    Json list = Json::array();
    for (const CheckedSegment& segment : segments)
        list.push_back({{"name", segment.name},
                        {"state", word_of(segment.state)},
                        {"in_use", segment.is_in_use},
                        {"records", segment.n_records},
                        {"bytes", segment.n_bytes},
                        {"damaged_records", segment.n_damaged},
                        {"bytes_lost", segment.bytes_lost},
                        {"repaired", word_of(segment.repaired)}});
    const Totals totals = totals_of(segments);
    return to_line({{"folder", folder},
                    {"ok", totals.n_damaged == 0},
                    {"records", totals.n_records},
                    {"bytes", totals.n_bytes},
                    {"segments", list}});
}

}  // namespace

Result<int> fsck(const Call& call) {
    FsckOptions options;
    const Flags flags = fsck_flags(options);
    KVIK_TRY(const auto ended, begin(flags, call));
    if (ended) return *ended;
    KVIK_TRY(const auto segments,
             check_folder(options.folder, options.repairs ? Repair::yes : Repair::no));
    KVIK_TRY_VOID(
        put(options.json ? as_json(segments, options.folder) : as_text(segments, options.folder)));
    return std::ranges::any_of(segments, is_damaged) ? static_cast<int>(ErrorKind::file) : 0;
}

}  // namespace kvik::cli
