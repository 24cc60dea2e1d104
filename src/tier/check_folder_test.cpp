#include "tier/check_folder.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "testing/scratch_folder.h"
#include "tier/faulty_files.h"
#include "tier/record_layout.h"
#include "tier/tier_rig.h"

namespace kvik {
namespace {

constexpr SegmentShape kShape{kRigGroups, kRigBlockTokens, kRigBlockBytes};
const uint64_t kRecordBytes = kShape.record_header_bytes() + kRigGroups * aligned(kRigBlockBytes);

class check_folder_of : public testing::Test {
  protected:
    check_folder_of() {
        save_path(*open_rig(rig_options(folder_.path())), path_);
        file_ = std::filesystem::directory_iterator(folder_.path())->path();
    }
    void flip(uint64_t at) {
        std::fstream file(file_, std::ios::binary | std::ios::in | std::ios::out);
        file.seekg(static_cast<std::streamoff>(at));
        const int byte = file.get();
        file.seekp(static_cast<std::streamoff>(at));
        file.put(static_cast<char>(byte ^ 1));
    }
    void cut(uint64_t n_bytes) {
        std::filesystem::resize_file(file_, std::filesystem::file_size(file_) - n_bytes);
    }
    std::vector<CheckedSegment> check(Repair repair) {
        auto checked = check_folder(folder_.path(), repair);
        EXPECT_TRUE(checked);
        return checked ? *checked : std::vector<CheckedSegment>();
    }
    size_t n_found() { return open_rig(rig_options(folder_.path()))->take_index().size(); }

    ScratchFolder folder_;
    std::vector<RigBlock> path_ = rig_path(1, 4);
    std::string file_;
};

TEST_F(check_folder_of, sound_segments_counts_them_and_changes_nothing) {
    for (const Repair repair : {Repair::no, Repair::yes}) {
        const auto checked = check(repair);
        ASSERT_EQ(checked.size(), 1u);
        EXPECT_EQ(checked[0].state, SegmentState::sound);
        EXPECT_EQ(checked[0].n_records, path_.size());
        EXPECT_EQ(checked[0].n_bytes, std::filesystem::file_size(file_));
        EXPECT_EQ(checked[0].bytes_lost, 0u);
        EXPECT_EQ(checked[0].repaired, Repaired::no);
    }
}

TEST_F(check_folder_of, a_torn_tail_cuts_it_off) {
    cut(100);
    EXPECT_FALSE(is_damaged(check(Repair::no)[0]));
    const auto checked = check(Repair::yes);
    EXPECT_EQ(checked[0].state, SegmentState::torn);
    EXPECT_EQ(checked[0].bytes_lost, kRecordBytes - 100);
    EXPECT_EQ(checked[0].repaired, Repaired::cut);
    EXPECT_EQ(check(Repair::no)[0].state, SegmentState::sound);
    EXPECT_EQ(std::filesystem::file_size(file_), kSegmentHeaderBytes + 3 * kRecordBytes);
}

TEST_F(check_folder_of, a_damaged_payload_keeps_all_other_records) {
    flip(kSegmentHeaderBytes + 3 * kRecordBytes + kShape.record_header_bytes() + 5);
    EXPECT_TRUE(is_damaged(check(Repair::no)[0]));
    EXPECT_EQ(n_found(), 4u);  // headers are sound: only reading tells
    const auto checked = check(Repair::yes);
    ASSERT_EQ(checked.size(), 1u);
    EXPECT_EQ(checked[0].n_damaged, 1u);
    EXPECT_EQ(checked[0].n_records, 3u);
    EXPECT_EQ(checked[0].repaired, Repaired::copied);
    EXPECT_FALSE(is_damaged(checked[0]));
    EXPECT_FALSE(std::filesystem::exists(file_));
    EXPECT_EQ(folder_.n_files(), 1u);
    EXPECT_EQ(check(Repair::no)[0].state, SegmentState::sound);
    const auto tier = open_rig(rig_options(folder_.path()));
    const auto index = tier->take_index();
    ASSERT_EQ(index.size(), 3u);
    for (size_t i = 0; i < index.size(); ++i)
        for (uint32_t group = 0; group < kRigGroups; ++group)
            EXPECT_EQ(read_rig(*tier, index[i].ref, path_[i], group), Read::right);
}

// Whatever byte of whatever record's header.
TEST_F(check_folder_of, a_damaged_header_loses_that_record_alone) {
    for (uint64_t record = 0; record < path_.size(); ++record)
        for (uint64_t at = 0; at < kShape.record_header_bytes(); at += 7) {
            SCOPED_TRACE(std::to_string(record) + " at " + std::to_string(at));
            const uint64_t place = kSegmentHeaderBytes + record * kRecordBytes + at;
            flip(place);
            const auto checked = check(Repair::no);
            ASSERT_EQ(checked.size(), 1u);
            EXPECT_EQ(checked[0].state, SegmentState::damaged);
            EXPECT_EQ(checked[0].n_records, path_.size() - 1);
            EXPECT_EQ(checked[0].bytes_lost, kRecordBytes);
            EXPECT_EQ(n_found(), record);  // those behind it have lost the block before
            flip(place);
        }
    EXPECT_EQ(check(Repair::no)[0].state, SegmentState::sound);
}

TEST_F(check_folder_of, damaged_headers_next_to_one_another_lose_these_records) {
    flip(kSegmentHeaderBytes + 1 * kRecordBytes + 50);
    flip(kSegmentHeaderBytes + 2 * kRecordBytes + 9);
    const auto checked = check(Repair::yes);
    EXPECT_EQ(checked[0].state, SegmentState::damaged);
    EXPECT_EQ(checked[0].n_records, 2u);
    EXPECT_EQ(checked[0].n_damaged, 1u);
    EXPECT_EQ(checked[0].bytes_lost, 2 * kRecordBytes);
    EXPECT_EQ(checked[0].repaired, Repaired::copied);
    EXPECT_EQ(check(Repair::no)[0].state, SegmentState::sound);
    EXPECT_EQ(check(Repair::no)[0].n_records, 2u);
}

struct FailsToOpen : DiskFaults {
    int error = 0;
    int fail_open(const std::string& /*path*/) override { return error; }
};

TEST_F(check_folder_of, a_segment_that_is_not_ours_to_read_is_no_damage) {
    struct Case {
        int error;
        SegmentState state;
        bool damaged;
    };
    for (const Case& expected :
         {Case{EACCES, SegmentState::denied, false}, Case{EPERM, SegmentState::denied, false},
          Case{EIO, SegmentState::unread, true}})
        for (const Repair repair : {Repair::no, Repair::yes}) {
            FailsToOpen faults;
            faults.error = expected.error;
            FaultyFiles files(faults);
            const auto checked = check_folder(folder_.path(), repair, files);
            ASSERT_TRUE(checked && checked->size() == 1);
            EXPECT_EQ((*checked)[0].state, expected.state);
            EXPECT_EQ(is_damaged((*checked)[0]), expected.damaged);
            EXPECT_EQ((*checked)[0].repaired, Repaired::no);
            auto options = rig_options(folder_.path());
            options.files = &files;
            EXPECT_EQ(open_rig(options)->stats().n_foreign_segments, expected.damaged ? 0u : 1u);
            EXPECT_EQ(open_rig(options)->stats().n_damaged_segments, expected.damaged ? 1u : 0u);
        }
}

TEST_F(check_folder_of, a_segment_that_was_deleted_since_it_was_listed_is_none) {
    FailsToOpen faults;
    faults.error = ENOENT;
    FaultyFiles files(faults);
    const auto checked = check_folder(folder_.path(), Repair::no, files);
    ASSERT_TRUE(checked);
    EXPECT_TRUE(checked->empty());
}

TEST_F(check_folder_of, a_segment_without_anything_sound_deletes_it) {
    flip(60);
    const auto checked = check(Repair::yes);
    EXPECT_EQ(checked[0].state, SegmentState::damaged);
    EXPECT_EQ(checked[0].repaired, Repaired::deleted);
    EXPECT_EQ(folder_.n_files(), 0u);
}

TEST_F(check_folder_of, a_segment_that_was_only_begun_deletes_it) {
    std::filesystem::resize_file(file_, 100);
    const auto checked = check(Repair::yes);
    EXPECT_EQ(checked[0].state, SegmentState::torn);
    EXPECT_EQ(checked[0].repaired, Repaired::deleted);
    EXPECT_EQ(folder_.n_files(), 0u);
}

TEST_F(check_folder_of, a_segment_of_another_version_leaves_it_alone) {
    std::fstream file(file_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(8);
    file.put(static_cast<char>(kSegmentVersion + 1));
    file.close();
    const auto checked = check(Repair::yes);
    EXPECT_EQ(checked[0].state, SegmentState::unknown);
    EXPECT_FALSE(is_damaged(checked[0]));
    EXPECT_TRUE(std::filesystem::exists(file_));
}

TEST_F(check_folder_of, a_segment_that_somebody_writes_only_looks) {
    const auto tier = open_rig(rig_options(folder_.path()));
    save_path(*tier, rig_path(2, 1));  // goes on in the same file
    cut(100);
    const auto checked = check(Repair::yes);
    EXPECT_TRUE(checked[0].is_in_use);
    EXPECT_EQ(checked[0].state, SegmentState::torn);
    EXPECT_EQ(checked[0].repaired, Repaired::in_use);
    EXPECT_EQ(checked[0].n_records, 4u);
}

TEST_F(check_folder_of, a_reader_is_not_misled_by_a_repair) {
    const auto tier = open_rig(rig_options(folder_.path()));
    const auto index = tier->take_index();
    flip(kSegmentHeaderBytes + kRecordBytes + kShape.record_header_bytes());
    check(Repair::yes);
    for (size_t i = 0; i < index.size(); ++i)
        EXPECT_NE(read_rig(*tier, index[i].ref, path_[i], 0), Read::wrong);
    // Somebody else's records now lie in the file that took its place.
    save_path(*open_rig(rig_options(folder_.path())), rig_path(2, 4));
    for (size_t i = 0; i < index.size(); ++i)
        EXPECT_NE(read_rig(*tier, index[i].ref, path_[i], 0), Read::wrong);
}

TEST(check_folder, that_is_none_is_an_error) {
    const auto checked = check_folder("/nowhere/at/all", Repair::no);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().kind, ErrorKind::file);
    EXPECT_NE(checked.error().message.find("/nowhere/at/all"), std::string::npos);
}

}  // namespace
}  // namespace kvik
