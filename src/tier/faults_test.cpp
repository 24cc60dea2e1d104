// What a disk can do to the tier. Whatever it does, a read gives the right bytes or none.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "testing/scratch_folder.h"
#include "tier/disk_tier.h"
#include "tier/faulty_files.h"
#include "tier/record_layout.h"
#include "tier/tier_rig.h"

namespace kvik {
namespace {

constexpr SegmentShape kShape{kRigGroups, kRigBlockTokens, kRigBlockBytes};

std::string only_file(const std::string& folder) {
    return std::filesystem::directory_iterator(folder)->path();
}

std::vector<char> bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void put_bytes(const std::string& path, std::span<const char> bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

struct Outcome {
    size_t n_right = 0;
    size_t n_missed = 0;
};

// Opens the folder and reads all of the path that is there. A wrong byte ends the test.
Outcome read_all(const std::string& folder, std::span<const RigBlock> path) {
    Outcome outcome;
    const auto tier = open_rig(rig_options(folder));
    for (const DiskRecord& record : tier->take_index()) {
        const auto block = std::ranges::find(path, record.hash, &RigBlock::hash);
        EXPECT_NE(block, path.end()) << "a record that nobody saved";
        if (block == path.end()) continue;
        EXPECT_EQ(record.tokens, block->tokens);
        EXPECT_EQ(record.parent, block->parent);
        for (uint32_t group = 0; group < kRigGroups; ++group) {
            const Read read = read_rig(*tier, record.ref, *block, group);
            EXPECT_NE(read, Read::wrong);
            ++(read == Read::right ? outcome.n_right : outcome.n_missed);
        }
    }
    return outcome;
}

class disk_faults : public testing::Test {
  protected:
    disk_faults() {
        save_path(*open_rig(rig_options(folder_.path())), path_);
        file_ = only_file(folder_.path());
    }

    ScratchFolder folder_;
    std::vector<RigBlock> path_ = rig_path(1, 3);
    std::string file_;
};

TEST_F(disk_faults, a_flipped_byte_in_any_header_is_a_miss) {
    const std::vector<char> sound = bytes_of(file_);
    const uint64_t header = kShape.record_header_bytes();
    const uint64_t record = header + kRigGroups * aligned(kRigBlockBytes);
    ASSERT_EQ(sound.size(), kSegmentHeaderBytes + path_.size() * record);
    std::vector<size_t> places;
    for (size_t at = 0; at < kSegmentHeaderBytes; ++at) places.push_back(at);
    for (size_t at = 0; at < header; ++at) places.push_back(kSegmentHeaderBytes + record + at);
    for (const size_t at : places) {
        std::vector<char> bytes = sound;
        bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
        put_bytes(file_, bytes);
        // Of the record before it all, of what it leads to nothing.
        const size_t n_before = at < kSegmentHeaderBytes ? 0 : kRigGroups;
        const Outcome outcome = read_all(folder_.path(), path_);
        ASSERT_EQ(outcome.n_right, n_before) << "byte " << at;
    }
}

TEST_F(disk_faults, a_flipped_byte_in_a_payload_is_a_miss_of_that_payload_alone) {
    const std::vector<char> sound = bytes_of(file_);
    const size_t first = kSegmentHeaderBytes + kShape.record_header_bytes();
    for (size_t at = first; at < first + kRigBlockBytes; at += 97) {
        std::vector<char> bytes = sound;
        bytes[at] = static_cast<char>(bytes[at] ^ 1);
        put_bytes(file_, bytes);
        const Outcome outcome = read_all(folder_.path(), path_);
        ASSERT_EQ(outcome.n_missed, 1u) << "byte " << at;
        ASSERT_EQ(outcome.n_right, path_.size() * kRigGroups - 1) << "byte " << at;
    }
}

TEST_F(disk_faults, a_file_cut_anywhere_gives_what_lies_before_the_cut) {
    const std::vector<char> sound = bytes_of(file_);
    const uint64_t record = kShape.record_header_bytes() + kRigGroups * aligned(kRigBlockBytes);
    for (size_t size = 0; size < sound.size(); size += 61) {
        put_bytes(file_, std::span(sound).first(size));
        const size_t n_whole =
            size < kSegmentHeaderBytes ? 0 : (size - kSegmentHeaderBytes) / record;
        const Outcome outcome = read_all(folder_.path(), path_);
        ASSERT_EQ(outcome.n_right, n_whole * kRigGroups) << "cut to " << size;
        ASSERT_EQ(outcome.n_missed, 0u);
    }
}

TEST_F(disk_faults, a_torn_tail_is_written_over_by_whoever_goes_on) {
    const std::vector<char> sound = bytes_of(file_);
    for (const size_t n_less : {1, 100, 3000, 9000}) {
        put_bytes(file_, std::span(sound).first(sound.size() - n_less));
        {
            const auto tier = open_rig(rig_options(folder_.path()));
            EXPECT_EQ(tier->stats().n_cut_segments, 1u);
            EXPECT_EQ(tier->take_index().size(), 2u);
            save_path(*tier, std::span(path_).last(1));
        }
        EXPECT_EQ(folder_.n_files(), 1u);
        EXPECT_EQ(read_all(folder_.path(), path_).n_right, path_.size() * kRigGroups);
    }
}

TEST_F(disk_faults, nobody_goes_on_behind_a_damaged_record) {
    std::vector<char> bytes = bytes_of(file_);
    bytes[kSegmentHeaderBytes] = 'x';
    put_bytes(file_, bytes);
    const auto tier = open_rig(rig_options(folder_.path()));
    EXPECT_TRUE(tier->take_index().empty());
    save_path(*tier, path_);
    EXPECT_EQ(folder_.n_files(), 2u);
    EXPECT_EQ(bytes_of(file_), bytes);
}

TEST_F(disk_faults, rubbish_under_a_segment_s_name_is_left_out) {
    for (const size_t size : {0, 1, 127, 128, 129, 5000}) {
        put_bytes(folder_.path("kv-rubbish.seg"), std::vector<char>(size, 'k'));
        EXPECT_EQ(read_all(folder_.path(), path_).n_right, path_.size() * kRigGroups);
        const DiskStats stats = open_rig(rig_options(folder_.path()))->stats();
        EXPECT_EQ(stats.n_cut_segments, size < kSegmentHeaderBytes);
        EXPECT_EQ(stats.n_damaged_segments, size >= kSegmentHeaderBytes);
    }
    std::filesystem::remove(folder_.path("kv-rubbish.seg"));
    std::filesystem::create_directory(folder_.path("kv-folder.seg"));
    std::filesystem::create_symlink(file_, folder_.path("kv-link.seg"));
    put_bytes(folder_.path("notes.txt"), std::vector<char>(10, 'n'));
    EXPECT_EQ(read_all(folder_.path(), path_).n_right, path_.size() * kRigGroups);
    EXPECT_TRUE(std::filesystem::exists(folder_.path("notes.txt")));
}

TEST_F(disk_faults, the_whole_folder_deleted_while_in_use_costs_misses_only) {
    const auto tier = open_rig(rig_options(folder_.path()));
    const auto index = tier->take_index();
    std::filesystem::remove_all(folder_.path());
    for (size_t i = 0; i < index.size(); ++i)
        EXPECT_EQ(read_rig(*tier, index[i].ref, path_[i], 0), Read::miss);
    EXPECT_EQ(tier->take_gone_segments(), 1u);
    EXPECT_TRUE(tier->has_gone(index[0].ref));
    // What is computed again is kept again.
    const auto saved = save_path(*tier, path_);
    EXPECT_EQ(read_rig(*tier, saved[0].ref, path_[0], 0), Read::right);
    std::filesystem::remove_all(folder_.path());
    const auto again = save_path(*tier, path_);
    EXPECT_EQ(read_rig(*tier, again[2].ref, path_[2], 0), Read::right);
    EXPECT_NE(again[2].ref, saved[2].ref);
    EXPECT_EQ(read_all(folder_.path(), path_).n_right, path_.size() * kRigGroups);
}

// Says what goes wrong; nothing does unless it is set.
class Injected final : public DiskFaults {
  public:
    int fail_open(const std::string& path) override { return opens ? opens(path) : 0; }
    int fail_write(uint64_t, size_t& n_bytes) override {
        ++n_writes;
        return writes ? writes(n_bytes) : 0;
    }
    int fail_read(uint64_t, size_t) override { return read_error; }
    void spoil_read(uint64_t, std::span<std::byte> bytes) override {
        if (spoil_at < bytes.size()) bytes[spoil_at] ^= std::byte{4};
    }

    std::function<int(const std::string&)>
        opens;  // set while the writer's thread has nothing to do
    std::function<int(size_t&)> writes;
    std::atomic<int> n_writes = 0;
    std::atomic<int> read_error = 0;
    std::atomic<size_t> spoil_at = SIZE_MAX;
};

class injected_faults : public testing::Test {
  protected:
    DiskTierOptions options() {
        DiskTierOptions options = rig_options(folder_.path());
        options.files = &files_;
        return options;
    }
    // The n-th write from now on fails, those after it do not.
    void fail_one_write(int n, int error) {
        faults_.n_writes = 0;
        faults_.writes = [this, n, error](size_t&) { return faults_.n_writes == n ? error : 0; };
    }

    ScratchFolder folder_;
    Injected faults_;
    FaultyFiles files_{faults_};
    std::vector<RigBlock> path_ = rig_path(1, 4);
};

TEST_F(injected_faults, a_write_that_fails_anywhere_leaves_what_is_sound_and_nothing_else) {
    for (const int error : {EIO, EDQUOT})
        for (int n = 1; n <= 12; ++n) {
            const ScratchFolder folder;
            DiskTierOptions in_folder = options();
            in_folder.folder = folder.path();
            faults_.writes = {};
            const auto tier = open_rig(in_folder);
            fail_one_write(n, error);
            const auto saved = save_path(*tier, path_);
            EXPECT_GE(faults_.n_writes, n);
            size_t n_written = 0;
            for (size_t i = 0; i < saved.size(); ++i) {
                if (saved[i].ref == kNoTier) continue;
                ++n_written;
                EXPECT_EQ(read_rig(*tier, saved[i].ref, path_[i], 2), Read::right);
            }
            EXPECT_GE(tier->stats().n_failed_saves, 1u);
            EXPECT_EQ(tier->stats().last_error, error);
            EXPECT_EQ(n_written, tier->stats().n_saves);
            EXPECT_EQ(open_rig(rig_options(folder.path()))->stats().n_cut_segments, 0u);
        }
}

TEST_F(injected_faults, short_writes_are_gone_on_with) {
    faults_.writes = [](size_t& n_bytes) {
        n_bytes = std::min<size_t>(n_bytes, 100);
        return 0;
    };
    const auto tier = open_rig(options());
    const auto saved = save_path(*tier, path_);
    for (size_t i = 0; i < saved.size(); ++i)
        for (uint32_t group = 0; group < kRigGroups; ++group)
            EXPECT_EQ(read_rig(*tier, saved[i].ref, path_[i], group), Read::right);
}

TEST_F(injected_faults, a_full_disk_takes_the_room_of_what_is_oldest) {
    DiskTierOptions small = options();
    small.segment_bytes = 20 << 10;  // two records
    const auto tier = open_rig(small);
    const auto old = save_path(*tier, path_);
    ASSERT_EQ(folder_.n_files(), 2u);
    fail_one_write(1, ENOSPC);
    const auto other = rig_path(2, 1);
    const auto saved = save_path(*tier, other);
    EXPECT_EQ(read_rig(*tier, saved[0].ref, other[0], 1), Read::right);
    EXPECT_EQ(read_rig(*tier, old[0].ref, path_[0], 1), Read::miss);
    EXPECT_TRUE(tier->has_gone(old[0].ref));
}

TEST_F(injected_faults, a_disk_that_stays_full_is_asked_less_and_less) {
    const auto tier = open_rig(options());
    faults_.writes = [](size_t&) { return ENOSPC; };
    const auto path = rig_path(1, 60);
    for (const SaveResult& saved : save_path(*tier, path)) EXPECT_EQ(saved.ref, kNoTier);
    EXPECT_EQ(tier->stats().n_failed_saves, 60u);
    EXPECT_LT(faults_.n_writes, 20);
    EXPECT_EQ(folder_.n_files(), 0u);
    faults_.writes = {};
    bool works_again = false;
    for (int i = 0; i < 3; ++i)
        for (const SaveResult& saved : save_path(*tier, path)) works_again |= saved.ref != kNoTier;
    EXPECT_TRUE(works_again);
}

TEST_F(injected_faults, a_disk_that_cannot_be_read_gives_misses_and_then_what_it_has) {
    const auto tier = open_rig(options());
    const auto saved = save_path(*tier, path_);
    faults_.read_error = EIO;
    EXPECT_EQ(read_rig(*tier, saved[0].ref, path_[0], 0), Read::miss);
    EXPECT_EQ(tier->stats().n_lost_reads, 1u);
    EXPECT_TRUE(open_rig(options())->take_index().empty());
    faults_.read_error = 0;
    EXPECT_EQ(read_rig(*tier, saved[0].ref, path_[0], 0), Read::right);
}

TEST_F(injected_faults, bytes_that_flip_on_their_way_are_a_miss) {
    const auto tier = open_rig(options());
    const auto saved = save_path(*tier, path_);
    for (size_t at = 0; at < kRigBlockBytes; at += 7) {
        faults_.spoil_at = at;
        ASSERT_EQ(read_rig(*tier, saved[0].ref, path_[0], 0), Read::miss);
    }
    EXPECT_GT(tier->stats().n_damaged_reads, 400u);
    faults_.spoil_at = SIZE_MAX;
    EXPECT_EQ(read_rig(*tier, saved[0].ref, path_[0], 0), Read::right);
}

TEST_F(injected_faults, a_folder_that_cannot_be_written_to_is_read) {
    save_path(*open_rig(rig_options(folder_.path())), path_);
    const std::string file = only_file(folder_.path());
    const auto before = bytes_of(file);
    bool for_reading = false;
    faults_.opens = [&](const std::string& path) {
        const bool known = std::filesystem::exists(path);
        return known && for_reading ? 0 : EROFS;
    };
    for_reading = true;
    const auto tier = open_rig(options());
    const auto index = tier->take_index();
    ASSERT_EQ(index.size(), path_.size());
    EXPECT_EQ(read_rig(*tier, index[1].ref, path_[1], 1), Read::right);
    for_reading = false;
    for (const SaveResult& saved : save_path(*tier, rig_path(2, 3))) EXPECT_EQ(saved.ref, kNoTier);
    EXPECT_EQ(tier->stats().last_error, EROFS);
    EXPECT_EQ(bytes_of(file), before);
    EXPECT_EQ(folder_.n_files(), 1u);
}

}  // namespace
}  // namespace kvik
