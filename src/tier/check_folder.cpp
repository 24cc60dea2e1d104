#include "tier/check_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "tier/file_system.h"
#include "tier/segment_folder.h"
#include "tier/segment_reader.h"
#include "tier/segment_table.h"
#include "tier/segment_writer.h"

namespace kvik {
namespace {

SegmentState state_of(SegmentTail tail) {
    switch (tail) {
        case SegmentTail::none:
            return SegmentState::sound;
        case SegmentTail::torn:
            return SegmentState::torn;
        case SegmentTail::damaged:
            return SegmentState::damaged;
        case SegmentTail::unread:
            return SegmentState::unread;
    }
    return SegmentState::unread;
}

SegmentState state_of(SegmentVerdict verdict) {
    switch (verdict) {
        case SegmentVerdict::good:
            return SegmentState::sound;
        case SegmentVerdict::cut:
            return SegmentState::torn;
        case SegmentVerdict::damaged:
            return SegmentState::damaged;
        case SegmentVerdict::unknown_version:
            return SegmentState::unknown;
    }
    return SegmentState::unread;
}

// Reads the payloads of one record after another into one buffer.
class Payloads {
  public:
    ReadVerdict read(const DiskFile& file, const SegmentHeader& segment,
                     const RecordHeader& record) {
        bytes_.resize(record.n_payloads() * record.payload_bytes);
        payloads_.clear();
        std::span<std::byte> rest(bytes_);
        for (uint32_t group = 0; group < segment.shape.n_groups; ++group) {
            if ((record.group_mask >> group & 1) == 0) continue;
            const auto to = rest.first(record.payload_bytes);
            rest = rest.subspan(record.payload_bytes);
            const ReadVerdict verdict = read_payload(file, segment, record, group, to);
            if (verdict != ReadVerdict::sound) return verdict;
            payloads_.push_back({group, to});
        }
        return ReadVerdict::sound;
    }
    std::span<const Payload> all() const { return payloads_; }

  private:
    std::vector<std::byte> bytes_;
    std::vector<Payload> payloads_;
};

struct Looked {
    CheckedSegment checked;
    SegmentHeader header;
    SegmentEnd end;
    std::vector<RecordHeader> sound;
};

Looked look_at(const DiskFile& file, const FoundSegment& found) {
    Looked looked{.checked = {.name = found.name, .n_bytes = found.n_bytes},
                  .header = {},
                  .end = {},
                  .sound = {}};
    CheckedSegment& checked = looked.checked;
    const DecodedSegment decoded = read_segment_header(file);
    if (decoded.verdict != SegmentVerdict::good) {
        checked.state = state_of(decoded.verdict);
        checked.bytes_lost = checked.state == SegmentState::unknown ? 0 : found.n_bytes;
        return looked;
    }
    looked.header = decoded.header;
    Payloads payloads;
    looked.end = scan_records(file, decoded.header, [&](RecordHeader&& record) {
        if (payloads.read(file, decoded.header, record) == ReadVerdict::sound) {
            looked.sound.push_back(std::move(record));
        } else {
            ++checked.n_damaged;
        }
    });
    checked.n_bytes = looked.end.file_bytes;
    checked.n_records = looked.sound.size();
    checked.n_damaged += looked.end.n_gaps;
    checked.bytes_lost = looked.end.gap_bytes + looked.end.file_bytes -
                         std::min(looked.end.offset, looked.end.file_bytes);
    checked.state = checked.n_damaged > 0 ? SegmentState::damaged : state_of(looked.end.tail);
    return looked;
}

Repaired delete_file(const std::string& path) {
    return ::unlink(path.c_str()) == 0 ? Repaired::deleted : Repaired::failed;
}

// Copies the sound records of a segment into a new one.
Repaired copy_sound(const DiskFile& file, const Looked& looked, SegmentFolder& folder,
                    FileSystem& files) {
    SegmentTable table(files);
    SegmentWriter writer({.shape = looked.header.shape,
                          .identity = looked.header.identity,
                          .segment_bytes = kMostSegmentBytes,
                          .quota_bytes = UINT64_MAX / 2},
                         files, folder, table);
    Payloads payloads;
    for (const RecordHeader& record : looked.sound) {
        if (payloads.read(file, looked.header, record) != ReadVerdict::sound) continue;
        if (writer.append(record, payloads.all()).error != 0) return Repaired::failed;
    }
    return Repaired::copied;
}

Repaired repair_segment(DiskFile& file, const Looked& looked, SegmentFolder& folder,
                        FileSystem& files) {
    const std::string path = folder.path_of(looked.checked.name);
    if (looked.checked.is_in_use) return Repaired::in_use;
    if (looked.checked.state == SegmentState::torn && looked.end.offset > 0)
        return file.truncate(looked.end.offset) == 0 ? Repaired::cut : Repaired::failed;
    if (looked.sound.empty()) return delete_file(path);
    if (copy_sound(file, looked, folder, files) != Repaired::copied) return Repaired::failed;
    return delete_file(path) == Repaired::deleted ? Repaired::copied : Repaired::failed;
}

bool wants_repair(const CheckedSegment& checked) {
    return checked.state == SegmentState::torn || checked.state == SegmentState::damaged;
}

bool is_denied(int error) {
    return error == EACCES || error == EPERM;
}

// Checks one segment, and repairs it if asked to. Nothing: it was deleted meanwhile.
std::optional<CheckedSegment> check_segment(SegmentFolder& folder, const FoundSegment& found,
                                            Repair repair, FileSystem& files) {
    const std::string path = folder.path_of(found.name);
    const bool writes = repair == Repair::yes;
    auto file = files.open(path, writes ? FileAccess::write : FileAccess::read);
    // A file that may only be read is checked and not repaired.
    if (!file && writes && is_denied(errno)) {
        repair = Repair::no;
        file = files.open(path, FileAccess::read);
    }
    if (!file) {
        if (errno == ENOENT) return {};
        return CheckedSegment{
            .name = found.name,
            .state = is_denied(errno) ? SegmentState::denied : SegmentState::unread,
            .n_bytes = found.n_bytes};
    }
    // The lock is held to the end of the check, so that no process writes or deletes the file.
    const bool is_in_use = !file->try_lock();
    Looked looked = look_at(*file, found);
    looked.checked.is_in_use = is_in_use;
    if (repair == Repair::yes && wants_repair(looked.checked))
        looked.checked.repaired = repair_segment(*file, looked, folder, files);
    return std::move(looked.checked);
}

}  // namespace

Result<std::vector<CheckedSegment>> check_folder(const std::string& path, Repair repair,
                                                 FileSystem& files) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0)
        return fail(ErrorKind::file, fmt::format("cannot open {}: {}", path, std::strerror(errno)));
    if (!S_ISDIR(status.st_mode))
        return fail(ErrorKind::file, fmt::format("{} is no folder: name one that holds KV", path));
    if (::access(path.c_str(), R_OK | X_OK) != 0)
        return fail(ErrorKind::file, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    SegmentFolder folder(path, files);
    std::vector<CheckedSegment> checked;
    for (const FoundSegment& found : folder.list())
        if (auto segment = check_segment(folder, found, repair, files))
            checked.push_back(std::move(*segment));
    return checked;
}

bool is_damaged(const CheckedSegment& segment) {
    if (segment.state == SegmentState::unread) return true;
    if (segment.state != SegmentState::damaged) return false;
    return segment.repaired != Repaired::copied && segment.repaired != Repaired::deleted;
}

}  // namespace kvik
