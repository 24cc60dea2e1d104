#include "tier/disk_tier.h"

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "base/check.h"
#include "tier/save_queue.h"
#include "tier/segment_folder.h"
#include "tier/segment_reader.h"
#include "tier/segment_table.h"
#include "tier/segment_writer.h"

namespace kvik {
namespace {

constexpr uint64_t kMostSegment = uint64_t{64} << 20;
constexpr uint64_t kSegmentsInQuota = 16;
constexpr std::chrono::milliseconds kCloseDeadline(5000);

uint64_t segment_bytes_of(const DiskTierOptions& options) {
    if (options.segment_bytes != 0) return std::min(options.segment_bytes, kMostSegmentBytes);
    return std::min(options.quota_bytes / kSegmentsInQuota, kMostSegment);
}

SegmentShape shape_of(const DiskTierOptions& options) {
    return {options.n_groups, options.block_tokens, options.block_bytes};
}

struct ReadRequest {
    TierRef ref;
    RecordKind kind;
    uint32_t group;
    std::span<const TokenId> tokens;
};

}  // namespace

struct DiskTier::Parts {
    explicit Parts(const DiskTierOptions& options)
        : shape(shape_of(options)),
          identity(identity_of(options.identity)),
          files(*options.files),
          folder(options.folder, files),
          table(files),
          writer({.shape = shape,
                  .identity = identity,
                  .segment_bytes = segment_bytes_of(options),
                  .quota_bytes = options.quota_bytes},
                 files, folder, table) {}

    void scan();
    void scan_segment(const FoundSegment& found, std::vector<DiskRecord>& records);
    SaveResult write(const SaveRequest& save);
    void count_append(const Appended& done);
    bool read(const ReadRequest& wanted, std::span<std::byte> to);
    bool count_read(ReadVerdict verdict);
    template <class Change>
    void count(const Change& change) {
        const std::scoped_lock lock(mutex);
        change(stats);
    }

    SegmentShape shape;
    Identity identity;
    FileSystem& files;
    SegmentFolder folder;  // used by the writer's thread alone after open()
    SegmentTable table;
    SegmentWriter writer;
    WriteBreaker breaker;
    std::vector<DiskRecord> index;
    mutable std::mutex mutex;
    DiskStats stats;  // guarded by the mutex
    // Declared last, so that its thread ends before the members that it uses are destroyed.
    std::unique_ptr<SaveQueue<SaveRequest, SaveResult>> queue;
};

Result<std::unique_ptr<DiskTier>> DiskTier::open(const DiskTierOptions& options) {
    auto parts = std::make_unique<Parts>(options);
    KVIK_CHECK(parts->shape.is_lawful(), "a block fits a record");
    KVIK_TRY_VOID(parts->folder.prepare());
    parts->scan();
    Parts* const all = parts.get();
    parts->queue = std::make_unique<SaveQueue<SaveRequest, SaveResult>>(
        options.n_queued, [all](const SaveRequest& save) { return all->write(save); });
    return std::unique_ptr<DiskTier>(new DiskTier(std::move(parts)));
}

DiskTier::DiskTier(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

DiskTier::~DiskTier() {
    flush(kCloseDeadline);
}

std::vector<DiskRecord> DiskTier::take_index() {
    return std::exchange(parts_->index, {});
}

bool DiskTier::save(SaveRequest save) {
    KVIK_CHECK(!save.tokens.empty() && save.tokens.size() <= parts_->shape.block_tokens &&
                   save.groups.empty() != save.logits.empty(),
               "a record is KV or logits of some tokens of a block");
    if (parts_->queue->push(std::move(save))) return true;
    parts_->count([](DiskStats& stats) { ++stats.n_refused_saves; });
    return false;
}

std::vector<SaveResult> DiskTier::take_saved() {
    return parts_->queue->take_done();
}

bool DiskTier::read(TierRef ref, uint32_t group, std::span<const TokenId> expected_tokens,
                    std::span<std::byte> to) {
    return parts_->read({ref, RecordKind::kv, group, expected_tokens}, to);
}

bool DiskTier::read_logits(TierRef ref, std::span<const TokenId> expected_tokens,
                           std::span<float> to) {
    return parts_->read({ref, RecordKind::logits, 0, expected_tokens}, std::as_writable_bytes(to));
}

uint32_t DiskTier::take_gone_segments() {
    const uint32_t n = parts_->table.take_gone();
    if (n > 0) parts_->count([n](DiskStats& stats) { stats.n_gone_segments += n; });
    return n;
}

bool DiskTier::has_gone(TierRef ref) const {
    return parts_->table.has_gone(segment_of(ref));
}

bool DiskTier::flush(std::chrono::milliseconds most) {
    return parts_->queue->wait(most);
}

DiskStats DiskTier::stats() const {
    const std::scoped_lock lock(parts_->mutex);
    return parts_->stats;
}

void DiskTier::Parts::scan() {
    std::vector<DiskRecord> found;
    for (const FoundSegment& segment : folder.list()) scan_segment(segment, found);
    OrderedRecords ordered = parents_first(std::move(found));
    index = std::move(ordered.records);
    folder.count();
    stats.n_bytes = folder.n_bytes();
    stats.n_records = index.size();
    stats.n_duplicates = ordered.n_duplicates;
    stats.n_orphans = ordered.n_orphans;
}

void DiskTier::Parts::scan_segment(const FoundSegment& found, std::vector<DiskRecord>& records) {
    const std::string path = folder.path_of(found.name);
    auto file = files.open(path, FileAccess::read);
    if (!file) {
        if (errno == EACCES || errno == EPERM)
            ++stats.n_foreign_segments;
        else if (errno != ENOENT)  // deleted since it was listed
            ++stats.n_damaged_segments;
        return;
    }
    file->expect_random_reads();
    const DecodedSegment decoded = read_segment_header(*file);
    const SegmentHeader& header = decoded.header;
    switch (decoded.verdict) {
        case SegmentVerdict::cut:
            ++stats.n_cut_segments;
            return;
        case SegmentVerdict::damaged:
            ++stats.n_damaged_segments;
            return;
        case SegmentVerdict::unknown_version:
            ++stats.n_foreign_segments;
            return;
        case SegmentVerdict::good:
            break;
    }
    if (header.shape != shape || header.identity != identity) {
        ++stats.n_foreign_segments;
        return;
    }
    ++stats.n_segments;
    const uint32_t number = table.add(path, header);
    const SegmentEnd end = scan_records(*file, header, [&](RecordHeader&& record) {
        records.push_back({.ref = tier_ref(number, record.offset),
                           .kind = record.kind,
                           .ns = record.ns,
                           .hash = record.hash,
                           .parent = record.parent,
                           .tokens = std::move(record.tokens),
                           .group_mask = record.group_mask});
    });
    if (end.tail != SegmentTail::none) ++stats.n_cut_segments;
    stats.n_damaged_records += end.n_gaps;
    if (end.n_gaps == 0 && (end.tail == SegmentTail::none || end.tail == SegmentTail::torn))
        writer.offer({number, path, header, end});
}

SaveResult DiskTier::Parts::write(const SaveRequest& save) {
    RecordHeader header;
    header.kind = save.logits.empty() ? RecordKind::kv : RecordKind::logits;
    header.ns = save.ns;
    header.parent = save.parent;
    header.tokens = save.tokens;
    header.hash = block_hash(save.ns, save.parent, save.tokens);
    std::vector<Payload> payloads;
    for (const auto& [group, bytes] : save.groups) payloads.push_back({group, bytes});
    if (!save.logits.empty()) payloads.push_back({0, std::as_bytes(save.logits)});
    SaveResult saved{.ticket = save.ticket, .hash = header.hash};
    if (breaker.lets_through()) {
        const Appended done = writer.append(std::move(header), payloads);
        done.error == 0 ? breaker.note_success() : breaker.note_failure();
        count_append(done);
        saved.ref = done.ref;
    } else {
        count([](DiskStats& now) { ++now.n_failed_saves; });
    }
    return saved;
}

void DiskTier::Parts::count_append(const Appended& done) {
    count([&](DiskStats& now) {
        now.n_bytes = folder.n_bytes();
        if (done.error != 0) {
            ++now.n_failed_saves;
            now.last_error = done.error;
            return;
        }
        ++now.n_saves;
        ++now.n_records;
        now.bytes_written += done.n_bytes;
    });
}

bool DiskTier::Parts::read(const ReadRequest& wanted, std::span<std::byte> to) {
    const auto segment = table.open(segment_of(wanted.ref));
    if (!segment) return count_read(ReadVerdict::lost);
    const DiskFile& file = *segment->file;
    const uint64_t offset = offset_of(wanted.ref);
    const auto [found, header] = read_record_header(file, segment->header, offset);
    if (found != ReadVerdict::sound) return count_read(found);
    count([&](DiskStats& now) { now.header_bytes_read += shape.record_header_bytes(); });
    if (header.kind != wanted.kind || !std::ranges::equal(header.tokens, wanted.tokens) ||
        wanted.group >= shape.n_groups || (header.group_mask >> wanted.group & 1) == 0 ||
        header.payload_bytes != to.size()) {
        count([](DiskStats& now) { ++now.n_strange_reads; });
        return false;
    }
    const ReadVerdict read = read_payload(file, segment->header, header, wanted.group, to);
    count([&](DiskStats& now) { now.bytes_read += to.size(); });
    return count_read(read);
}

bool DiskTier::Parts::count_read(ReadVerdict verdict) {
    count([&](DiskStats& now) {
        switch (verdict) {
            case ReadVerdict::sound:
                ++now.n_reads;
                break;
            case ReadVerdict::damaged:
                ++now.n_damaged_reads;
                break;
            case ReadVerdict::lost:
                ++now.n_lost_reads;
                break;
        }
    });
    return verdict == ReadVerdict::sound;
}

}  // namespace kvik
