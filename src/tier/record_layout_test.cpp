#include "tier/record_layout.h"

#include <gtest/gtest.h>

#include <vector>

#include "tier/tier_rig.h"

namespace kvik {
namespace {

const SegmentHeader kSegment{.shape = {kRigGroups, kRigBlockTokens, kRigBlockBytes},
                             .salt = 77,
                             .identity = identity_of("rig")};

RecordHeader some_record() {
    const RigBlock block = rig_path(1, 2)[1];
    RecordHeader record;
    record.offset = 640;
    record.ns = block.ns;
    record.parent = block.parent;
    record.hash = block.hash;
    record.group_mask = 0b101;
    record.payload_bytes = kRigBlockBytes;
    record.sums = {{1, 2}, {0, 0}, {3, 4}};
    record.tokens = block.tokens;
    record.tokens.pop_back();
    record.hash = block_hash(record.ns, record.parent, record.tokens);
    return record;
}

std::vector<std::byte> encoded(const RecordHeader& record) {
    std::vector<std::byte> bytes(kSegment.shape.record_header_bytes());
    encode(record, kSegment, bytes);
    return bytes;
}

TEST(record_layout, a_record_comes_back_as_it_was) {
    const RecordHeader record = some_record();
    const auto again = decode_record(kSegment, record.offset, encoded(record));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->kind, record.kind);
    EXPECT_EQ(again->ns, record.ns);
    EXPECT_EQ(again->parent, record.parent);
    EXPECT_EQ(again->hash, record.hash);
    EXPECT_EQ(again->group_mask, record.group_mask);
    EXPECT_EQ(again->payload_bytes, record.payload_bytes);
    EXPECT_EQ(again->sums, record.sums);
    EXPECT_EQ(again->tokens, record.tokens);
}

TEST(record_layout, parts_begin_at_multiples_of_64_and_do_not_overlap) {
    const RecordHeader record = some_record();
    const uint64_t first = record.payload_offset(kSegment.shape, 0);
    const uint64_t second = record.payload_offset(kSegment.shape, 2);
    EXPECT_EQ(first, record.offset + kSegment.shape.record_header_bytes());
    EXPECT_GE(second, first + record.payload_bytes);
    EXPECT_GE(record.end(kSegment.shape), second + record.payload_bytes);
    for (const uint64_t at : {first, second, record.end(kSegment.shape)})
        EXPECT_EQ(at % kRecordAlign, 0u);
}

TEST(record_layout, any_flipped_bit_of_a_record_header_makes_it_none) {
    const RecordHeader record = some_record();
    const std::vector<std::byte> sound = encoded(record);
    for (size_t bit = 0; bit < 8 * sound.size(); ++bit) {
        std::vector<std::byte> bytes = sound;
        bytes[bit / 8] ^= std::byte{1} << bit % 8;
        EXPECT_FALSE(decode_record(kSegment, record.offset, bytes)) << "bit " << bit;
    }
}

TEST(record_layout, any_flipped_bit_of_a_segment_header_makes_it_another_or_none) {
    const SegmentHeaderBytes sound = encode(kSegment);
    ASSERT_EQ(decode_segment(sound).verdict, SegmentVerdict::good);
    for (size_t bit = 0; bit < 8 * sound.size(); ++bit) {
        SegmentHeaderBytes bytes = sound;
        bytes[bit / 8] ^= std::byte{1} << bit % 8;
        EXPECT_NE(decode_segment(bytes).verdict, SegmentVerdict::good) << "bit " << bit;
    }
}

// A field that lies under a checksum that fits is refused all the same, or changes nothing that
// readers trust: lengths, ids and what is unused follow from the rest.
TEST(record_layout, a_lie_under_a_good_checksum_is_found) {
    const RecordHeader record = some_record();
    const std::vector<std::byte> sound = encoded(record);
    struct Lie {
        size_t at;
        const char* field;
    };
    for (const Lie& lie :
         {Lie{0, "magic"}, Lie{8, "offset"}, Lie{16, "record_bytes"}, Lie{24, "payload_bytes"},
          Lie{32, "kind"}, Lie{36, "n_tokens"}, Lie{40, "group_mask"}, Lie{44, "unused"},
          Lie{48, "ns"}, Lie{80, "parent"}, Lie{96, "hash"}, Lie{128 + 48, "tokens"}}) {
        std::vector<std::byte> bytes = sound;
        bytes[lie.at] ^= std::byte{2};
        seal_record(kSegment.salt, bytes);
        EXPECT_FALSE(decode_record(kSegment, record.offset, bytes)) << lie.field;
    }
}

TEST(record_layout, a_record_is_sound_in_its_own_segment_and_place_alone) {
    const RecordHeader record = some_record();
    const std::vector<std::byte> bytes = encoded(record);
    SegmentHeader other = kSegment;
    other.salt = 78;
    EXPECT_FALSE(decode_record(other, record.offset, bytes));
    EXPECT_FALSE(decode_record(kSegment, record.offset + kRecordAlign, bytes));
}

TEST(record_layout, another_version_is_told_from_damage) {
    SegmentHeaderBytes bytes = encode(kSegment);
    bytes[8] = std::byte{kSegmentVersion + 1};
    EXPECT_EQ(decode_segment(bytes).verdict, SegmentVerdict::unknown_version);
    bytes[8] = std::byte{kSegmentVersion};
    bytes[0] ^= std::byte{1};
    EXPECT_EQ(decode_segment(bytes).verdict, SegmentVerdict::damaged);
}

TEST(block_hash, depends_on_namespace_parent_and_every_token) {
    const RigBlock block = rig_path(1, 2)[1];
    EXPECT_NE(block_hash(rig_namespace(1), block.parent, block.tokens), block.hash);
    EXPECT_NE(block_hash(block.ns, kRootHash, block.tokens), block.hash);
    for (size_t i = 0; i < block.tokens.size(); ++i) {
        std::vector<TokenId> tokens = block.tokens;
        ++tokens[i];
        EXPECT_NE(block_hash(block.ns, block.parent, tokens), block.hash);
    }
    EXPECT_NE(block_hash(block.ns, block.parent, std::span(block.tokens).first(15)), block.hash);
}

}  // namespace
}  // namespace kvik
