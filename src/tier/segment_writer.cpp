#include "tier/segment_writer.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "base/check.h"

namespace kvik {
namespace {

// How often a new segment is begun when another process deletes it before it is locked.
constexpr int kMostBegins = 8;

std::optional<uint64_t> random_number() {
    uint64_t number = 0;
    if (::getrandom(&number, sizeof(number), 0) != sizeof(number)) return {};
    return number;
}

}  // namespace

SegmentWriter::SegmentWriter(const SegmentWriterOptions& options, FileSystem& files,
                             SegmentFolder& folder, SegmentTable& table)
    : options_(options), files_(files), folder_(folder), table_(table) {}

Appended SegmentWriter::append(RecordHeader header, std::span<const Payload> payloads) {
    header.payload_bytes = payloads.front().bytes.size();
    header.group_mask = 0;
    for (const Payload& payload : payloads) {
        KVIK_CHECK(payload.bytes.size() == header.payload_bytes,
                   "the payloads of a record have one size");
        KVIK_CHECK((header.group_mask >> payload.group) == 0, "payloads come in order");
        header.group_mask |= uint32_t{1} << payload.group;
    }
    const uint64_t n_bytes = header.record_bytes(options_.shape);
    if (n_bytes + kSegmentHeaderBytes > options_.quota_bytes) return {.error = EFBIG};
    if (own_ && (own_->n_bytes + n_bytes > options_.segment_bytes || own_->file->is_unlinked()))
        own_.reset();
    if (!make_room(n_bytes + kSegmentHeaderBytes, options_.quota_bytes)) {
        own_.reset();  // its own segment may be what fills the folder
        if (!make_room(n_bytes + kSegmentHeaderBytes, options_.quota_bytes))
            return {.error = ENOSPC};
    }
    int error = try_append(header, payloads);
    if (error == ENOSPC &&
        make_room(n_bytes, folder_.n_bytes()))  // the disk is smaller than the quota
        error = try_append(header, payloads);
    if (error != 0) return {.error = error};
    const Appended done{.ref = tier_ref(own_->number, own_->n_bytes), .n_bytes = n_bytes};
    own_->n_bytes += n_bytes;
    folder_.note_written(n_bytes);
    return done;
}

int SegmentWriter::try_append(const RecordHeader& header, std::span<const Payload> payloads) {
    if (const int error = own_ ? 0 : begin(header.record_bytes(options_.shape))) return error;
    const int error = write(*own_, header, payloads);
    if (error != 0 && own_->file->truncate(own_->n_bytes) != 0) own_.reset();
    return error;
}

bool SegmentWriter::make_room(uint64_t n_bytes, uint64_t quota_bytes) {
    return folder_.make_room(n_bytes, quota_bytes, [&](const std::string& name) {
        table_.note_gone(folder_.path_of(name));
    });
}

int SegmentWriter::begin(uint64_t n_bytes) {
    while (!left_.empty()) {
        const LeftSegment segment = std::move(left_.back());
        left_.pop_back();
        if (segment.end.offset + n_bytes <= options_.segment_bytes && go_on_in(segment)) return 0;
    }
    int error = make_segment();
    for (int i = 1; error == EAGAIN && i < kMostBegins; ++i) error = make_segment();
    return error;
}

bool SegmentWriter::go_on_in(const LeftSegment& segment) {
    auto file = files_.open(segment.path, FileAccess::write);
    if (!file || !file->try_lock() || file->is_unlinked()) return false;
    if (file->size() != segment.end.file_bytes || file->truncate(segment.end.offset) != 0)
        return false;
    own_ = Own{std::move(file), segment.header, segment.number, segment.end.offset};
    return true;
}

int SegmentWriter::make_segment() {
    if (!name_) name_ = random_number();
    const auto salt = random_number();
    if (!name_ || !salt) return EIO;
    if (!folder_.prepare()) return ENOENT;
    const std::string path =
        folder_.path_of(fmt::format("kv-{}-{:016x}-{:06}.seg", ::getpid(), *name_, n_begun_++));
    auto file = files_.open(path, FileAccess::create);
    if (!file) return errno;
    // Another process may have deleted it as an unused one before it was locked.
    if (!file->try_lock() || file->is_unlinked()) return EAGAIN;
    const SegmentHeader header{options_.shape, *salt, options_.identity};
    if (const int error = file->write(0, encode(header))) {
        ::unlink(path.c_str());
        return error;
    }
    folder_.count();
    own_ = Own{std::move(file), header, table_.add(path, header), kSegmentHeaderBytes};
    return 0;
}

int SegmentWriter::write(Own& own, const RecordHeader& header, std::span<const Payload> payloads) {
    constexpr std::array<std::byte, kRecordAlign> kFill = {};
    const SegmentShape& shape = options_.shape;
    RecordHeader record = header;
    record.offset = own.n_bytes;
    record.sums.assign(shape.n_groups, ChecksumValue{});
    for (const Payload& payload : payloads)
        record.sums[payload.group] = checksum(own.header.salt, payload.bytes);
    std::array<std::byte, kMostRecordHeaderBytes> buffer;
    const auto bytes = std::span(buffer).first(shape.record_header_bytes());
    encode(record, own.header, bytes);
    if (const int error = own.file->write(record.offset, bytes)) return error;
    for (const Payload& payload : payloads) {
        const uint64_t at = record.payload_offset(shape, payload.group);
        const uint64_t size = payload.bytes.size();
        if (const int error = own.file->write(at, payload.bytes)) return error;
        const auto fill = std::span(kFill).first(aligned(size) - size);
        if (const int error = own.file->write(at + size, fill)) return error;
    }
    return 0;
}

}  // namespace kvik
