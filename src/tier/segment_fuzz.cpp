// Any bytes as a segment file: the scan ends, its records lie within the file and do not overlap,
// encode to the bytes that they were read from, and no payload is read past the end.
//
// Shape   the first byte says whether checksums and ids are made to fit first (1), so that a
//         fuzzer gets past them; the rest is the file. Seeds lie in tests/corpus/segment.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "tier/segment_reader.h"

namespace kvik {
namespace {

constexpr size_t kMostPayload = 1 << 20;

template <class T>
T at(std::span<const std::byte> bytes, size_t offset) {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(value));
    return value;
}

// Seals the headers that are where the ones before them say, as a writer would have.
void seal_all(std::span<std::byte> file) {
    if (file.size() < kSegmentHeaderBytes) return;
    seal_segment(file.first<kSegmentHeaderBytes>());
    const auto decoded = decode_segment(file.first<kSegmentHeaderBytes>());
    if (decoded.verdict != SegmentVerdict::good) return;
    const uint64_t header_bytes = decoded.header.shape.record_header_bytes();
    const uint64_t tokens_at = 128 + sizeof(ChecksumValue) * decoded.header.shape.n_groups;
    uint64_t offset = kSegmentHeaderBytes;
    while (file.size() - offset >= header_bytes) {
        const auto header = file.subspan(offset, header_bytes);
        const auto n_tokens = std::min(at<uint32_t>(header, 36), decoded.header.shape.block_tokens);
        std::vector<TokenId> tokens(n_tokens);
        std::ranges::copy(header.subspan(tokens_at, n_tokens * sizeof(TokenId)),
                          std::as_writable_bytes(std::span(tokens)).begin());
        const BlockHash hash =
            block_hash(at<NamespaceKey>(header, 48), at<BlockHash>(header, 80), tokens);
        std::memcpy(header.data() + 96, &hash, sizeof(hash));
        seal_record(decoded.header.salt, header);
        const auto record_bytes = at<uint64_t>(header, 16);
        if (record_bytes < header_bytes || record_bytes > file.size() - offset) return;
        offset += record_bytes;
    }
}

// One nameless file for all inputs.
DiskFile& with_input(std::span<const std::byte> bytes) {
    static const std::unique_ptr<DiskFile> file = [] {
        const std::string path =
            std::filesystem::temp_directory_path() / fmt::format("kvik-fuzz-{}", ::getpid());
        auto made = posix_files().open(path, FileAccess::create);
        KVIK_CHECK(made && ::unlink(path.c_str()) == 0, "a file can be made");
        return made;
    }();
    KVIK_CHECK(file->truncate(0) == 0 && file->write(0, bytes) == 0, "it takes the input");
    return *file;
}

void check_record(const DiskFile& file, const SegmentHeader& segment, const RecordHeader& record) {
    std::vector<std::byte> written(segment.shape.record_header_bytes());
    encode(record, segment, written);
    std::vector<std::byte> there(written.size());
    KVIK_CHECK(file.read(record.offset, there) && there == written,
               "a record is what its writer would have written");
    if (record.payload_bytes > kMostPayload) return;
    std::vector<std::byte> payload(record.payload_bytes);
    for (uint32_t group = 0; group < segment.shape.n_groups; ++group)
        if (record.group_mask >> group & 1)
            KVIK_CHECK(read_payload(file, segment, record, group, payload) != ReadVerdict::lost,
                       "payloads lie within the file");
}

void check_file(std::span<const std::byte> bytes) {
    const DiskFile& file = with_input(bytes);
    const DecodedSegment decoded = read_segment_header(file);
    if (decoded.verdict != SegmentVerdict::good) return;
    uint64_t last_end = kSegmentHeaderBytes;
    uint32_t n_gaps = 0;
    const SegmentEnd end = scan_records(file, decoded.header, [&](RecordHeader&& record) {
        KVIK_CHECK(record.offset >= last_end, "records do not overlap");
        n_gaps += record.offset > last_end;
        last_end = record.end(decoded.header.shape);
        KVIK_CHECK(last_end <= bytes.size(), "a record ends within the file");
        check_record(file, decoded.header, record);
    });
    KVIK_CHECK(end.offset == last_end, "the scan ends where its last record does");
    KVIK_CHECK(end.n_gaps == n_gaps, "gaps are counted");
}

}  // namespace
}  // namespace kvik

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    const auto input = std::as_bytes(std::span(data, size));
    std::vector<std::byte> file(input.begin() + 1, input.end());
    if (data[0] & 1) kvik::seal_all(file);
    kvik::check_file(file);
    return 0;
}
