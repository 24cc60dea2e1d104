#include "tier/disk_tier.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "testing/scratch_folder.h"
#include "tier/tier_rig.h"

namespace kvik {
namespace {

uint64_t bytes_in(const std::string& folder) {
    uint64_t n_bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        n_bytes += entry.file_size();
    return n_bytes;
}

TEST(disk_tier, gives_back_what_was_saved_in_this_life_and_in_the_next) {
    const ScratchFolder folder;
    const auto path = rig_path(1, 5);
    {
        const auto tier = open_rig(rig_options(folder.path()));
        const auto saved = save_path(*tier, path);
        ASSERT_EQ(saved.size(), path.size());
        for (size_t i = 0; i < path.size(); ++i) {
            EXPECT_EQ(saved[i].hash, path[i].hash);
            for (uint32_t group = 0; group < kRigGroups; ++group)
                EXPECT_EQ(read_rig(*tier, saved[i].ref, path[i], group), Read::right);
        }
    }
    const auto tier = open_rig(rig_options(folder.path()));
    const auto index = tier->take_index();
    ASSERT_EQ(index.size(), path.size());
    for (size_t i = 0; i < path.size(); ++i) {
        EXPECT_EQ(index[i].hash, path[i].hash);
        EXPECT_EQ(index[i].parent, path[i].parent);
        EXPECT_EQ(index[i].tokens, path[i].tokens);
        EXPECT_EQ(index[i].group_mask, 0b111u);
        EXPECT_EQ(read_rig(*tier, index[i].ref, path[i], 2), Read::right);
    }
}

TEST(disk_tier, gives_nothing_for_other_tokens_another_group_or_another_kind) {
    const ScratchFolder folder;
    const auto tier = open_rig(rig_options(folder.path()));
    const auto path = rig_path(1, 2);
    RigSaves saves(*tier);
    ASSERT_TRUE(saves.save(path[0], {0, 2}));
    const TierRef ref = saves.finish()[0].ref;
    EXPECT_EQ(read_rig(*tier, ref, path[0], 2), Read::right);
    std::vector<std::byte> to(kRigBlockBytes);
    EXPECT_FALSE(tier->read(ref, 1, path[0].tokens, to));
    EXPECT_FALSE(tier->read(ref, kRigGroups, path[0].tokens, to));
    EXPECT_FALSE(tier->read(ref, 0, path[1].tokens, to));
    EXPECT_FALSE(tier->read(ref, 0, std::span(path[0].tokens).first(15), to));
    EXPECT_FALSE(tier->read(ref, 0, {}, to));
    EXPECT_FALSE(tier->read(ref, 0, path[0].tokens, std::span(to).first(kRigBlockBytes - 1)));
    EXPECT_FALSE(tier->read(kNoTier, 0, path[0].tokens, to));
    EXPECT_FALSE(tier->read(ref + 1, 0, path[0].tokens, to));
    std::vector<float> logits(kRigBlockBytes / sizeof(float));
    EXPECT_FALSE(tier->read_logits(ref, path[0].tokens, logits));
}

TEST(disk_tier, keeps_logits_beside_the_kv) {
    const ScratchFolder folder;
    const auto path = rig_path(1, 2);
    std::vector<float> row(777);
    std::iota(row.begin(), row.end(), 0.5f);
    {
        const auto tier = open_rig(rig_options(folder.path()));
        save_path(*tier, path);
        ASSERT_TRUE(tier->save({.ticket = 9,
                                .ns = path[1].ns,
                                .parent = path[1].parent,
                                .tokens = path[1].tokens,
                                .logits = row}));
        ASSERT_TRUE(tier->flush());
        EXPECT_EQ(tier->take_saved().back().hash, path[1].hash);
    }
    const auto tier = open_rig(rig_options(folder.path()));
    const auto index = tier->take_index();
    ASSERT_EQ(index.size(), 3u);
    const DiskRecord& record = index.back();
    EXPECT_EQ(record.kind, RecordKind::logits);
    EXPECT_EQ(record.hash, path[1].hash);
    std::vector<float> got(row.size());
    EXPECT_TRUE(tier->read_logits(record.ref, path[1].tokens, got));
    EXPECT_EQ(got, row);
    std::vector<std::byte> kv(kRigBlockBytes);
    EXPECT_FALSE(tier->read(record.ref, 0, path[1].tokens, kv));
}

TEST(disk_tier, leaves_the_segments_of_another_model_alone) {
    const ScratchFolder folder;
    const auto path = rig_path(1, 3);
    save_path(*open_rig(rig_options(folder.path())), path);
    DiskTierOptions other = rig_options(folder.path());
    other.identity = "another";
    DiskTierOptions wider = rig_options(folder.path());
    wider.block_bytes *= 2;
    for (const DiskTierOptions& options : {other, wider}) {
        const auto tier = open_rig(options);
        EXPECT_TRUE(tier->take_index().empty());
        EXPECT_EQ(tier->stats().n_foreign_segments, 1u);
    }
    EXPECT_EQ(open_rig(rig_options(folder.path()))->take_index().size(), path.size());
}

TEST(disk_tier, reads_no_byte_that_it_does_not_use) {
    const ScratchFolder folder;
    const auto path = rig_path(1, 10);
    save_path(*open_rig(rig_options(folder.path())), path);
    const auto tier = open_rig(rig_options(folder.path()));
    const auto index = tier->take_index();
    EXPECT_EQ(tier->stats().bytes_read, 0u);
    const SegmentShape shape{kRigGroups, kRigBlockTokens, kRigBlockBytes};
    for (size_t i = 0; i < 4; ++i)
        ASSERT_EQ(read_rig(*tier, index[i].ref, path[i], 1), Read::right);
    EXPECT_EQ(tier->stats().n_reads, 4u);
    EXPECT_EQ(tier->stats().bytes_read, 4 * kRigBlockBytes);
    EXPECT_EQ(tier->stats().header_bytes_read, 4 * shape.record_header_bytes());
}

TEST(disk_tier, stays_within_its_quota_and_lets_go_of_the_oldest) {
    const ScratchFolder folder;
    DiskTierOptions options = rig_options(folder.path());
    options.quota_bytes = 200 << 10;
    const auto tier = open_rig(options);
    std::vector<TierRef> refs;
    std::vector<RigBlock> blocks;
    for (uint32_t sequence = 0; sequence < 60; ++sequence) {
        for (const RigBlock& block : rig_path(sequence, 2)) blocks.push_back(block);
        for (const SaveResult& saved : save_path(*tier, std::span(blocks).last(2))) {
            ASSERT_NE(saved.ref, kNoTier);
            refs.push_back(saved.ref);
        }
        EXPECT_LE(bytes_in(folder.path()), options.quota_bytes);
        EXPECT_EQ(bytes_in(folder.path()), tier->stats().n_bytes);
    }
    EXPECT_GT(tier->take_gone_segments(), 0u);
    EXPECT_EQ(tier->take_gone_segments(), 0u);
    size_t n_there = 0;
    for (size_t i = 0; i < refs.size(); ++i) {
        const Read read = read_rig(*tier, refs[i], blocks[i], 0);
        EXPECT_EQ(read, tier->has_gone(refs[i]) ? Read::miss : Read::right);
        if (read == Read::right) ++n_there;
        // What stays is the end of what was written.
        EXPECT_TRUE(i == 0 || tier->has_gone(refs[i - 1]) || !tier->has_gone(refs[i]));
    }
    EXPECT_GT(n_there * 9000, options.quota_bytes / 2);
}

TEST(disk_tier, a_full_folder_costs_nobody_the_segment_that_he_writes) {
    const ScratchFolder folder;
    DiskTierOptions options = rig_options(folder.path());
    options.quota_bytes = 100 << 10;
    const auto one = open_rig(options);
    const auto path = rig_path(0, 1);
    save_path(*one, path);
    const std::string file = std::filesystem::directory_iterator(folder.path())->path();
    const auto two = open_rig(options);
    save_path(*two, rig_path(1, 40));
    EXPECT_GT(two->take_gone_segments(), 0u);
    EXPECT_TRUE(std::filesystem::exists(file));
    EXPECT_LE(bytes_in(folder.path()), options.quota_bytes);
}

TEST(disk_tier, a_record_larger_than_the_quota_is_not_written) {
    const ScratchFolder folder;
    DiskTierOptions options = rig_options(folder.path());
    options.quota_bytes = 8 << 10;
    const auto tier = open_rig(options);
    EXPECT_EQ(save_path(*tier, rig_path(1, 1))[0].ref, kNoTier);
    EXPECT_EQ(folder.n_files(), 0u);
    EXPECT_EQ(tier->stats().last_error, EFBIG);
}

TEST(disk_tier, goes_on_in_the_segment_that_another_life_left) {
    const ScratchFolder folder;
    const auto path = rig_path(1, 20);
    for (size_t i = 0; i < path.size(); ++i) {
        const auto tier = open_rig(rig_options(folder.path()));
        EXPECT_EQ(tier->take_index().size(), i);
        save_path(*tier, std::span(path).subspan(i, 1));
    }
    EXPECT_EQ(folder.n_files(), 1u);
    const auto tier = open_rig(rig_options(folder.path()));
    const auto index = tier->take_index();
    ASSERT_EQ(index.size(), path.size());
    for (size_t i = 0; i < path.size(); ++i)
        EXPECT_EQ(read_rig(*tier, index[i].ref, path[i], 0), Read::right);
}

TEST(disk_tier, two_that_live_at_once_write_no_common_segment) {
    const ScratchFolder folder;
    save_path(*open_rig(rig_options(folder.path())), rig_path(0, 3));
    const auto one = open_rig(rig_options(folder.path()));
    const auto two = open_rig(rig_options(folder.path()));
    const auto path_1 = rig_path(1, 3);
    const auto path_2 = rig_path(2, 3);
    const auto saved_1 = save_path(*one, path_1);
    const auto saved_2 = save_path(*two, path_2);
    EXPECT_EQ(folder.n_files(), 2u);
    EXPECT_EQ(read_rig(*one, saved_1[2].ref, path_1[2], 0), Read::right);
    EXPECT_EQ(read_rig(*two, saved_2[2].ref, path_2[2], 0), Read::right);
    EXPECT_EQ(open_rig(rig_options(folder.path()))->take_index().size(), 9u);
}

TEST(disk_tier, cuts_nothing_off_that_was_written_since_it_looked) {
    const ScratchFolder folder;
    const auto path = rig_path(0, 4);
    save_path(*open_rig(rig_options(folder.path())), std::span(path).first(2));
    const auto early = open_rig(rig_options(folder.path()));
    save_path(*open_rig(rig_options(folder.path())), std::span(path).last(2));
    ASSERT_EQ(folder.n_files(), 1u);
    save_path(*early, rig_path(1, 1));
    EXPECT_EQ(folder.n_files(), 2u);
    EXPECT_EQ(open_rig(rig_options(folder.path()))->take_index().size(), 5u);
}

TEST(disk_tier, what_it_writes_is_for_its_owner_alone) {
    const ScratchFolder outer;
    const std::string folder = outer.path("new");
    save_path(*open_rig(rig_options(folder)), rig_path(1, 1));
    using std::filesystem::perms;
    EXPECT_EQ(std::filesystem::status(folder).permissions(), perms::owner_all);
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        EXPECT_EQ(entry.status().permissions(), perms::owner_read | perms::owner_write);
}

TEST(disk_tier, a_folder_that_is_none_is_an_error_that_names_it) {
    const ScratchFolder folder;
    const auto saved = save_path(*open_rig(rig_options(folder.path())), rig_path(1, 1));
    const std::string file = std::filesystem::directory_iterator(folder.path())->path();
    for (const std::string& name : {file, file + "/there"}) {
        const auto tier = DiskTier::open(rig_options(name));
        ASSERT_FALSE(tier);
        EXPECT_EQ(tier.error().kind, ErrorKind::file);
        EXPECT_NE(tier.error().message.find(name), std::string::npos);
    }
}

}  // namespace
}  // namespace kvik
