#include "base/digest.h"

#include <gtest/gtest.h>

#include <string_view>

namespace kvik {
namespace {

std::span<const std::byte> bytes(std::string_view text) {
    return std::as_bytes(std::span(text));
}

std::string sha256(std::string_view text) {
    Sha256 digest;
    digest.update(bytes(text));
    return digest.hex();
}

constexpr std::string_view kAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

}  // namespace

// FIPS 180-4's examples.
TEST(Sha256, gives_the_standards_answers) {
    EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256("abc"), kAbc);
    EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, does_not_see_where_its_input_was_cut) {
    Sha256 digest;
    digest.update(bytes("a"));
    digest.update({});
    digest.update(bytes("bc"));
    EXPECT_EQ(digest.hex(), kAbc);
}

TEST(Sha256, goes_on_after_it_was_read) {
    Sha256 digest;
    digest.update(bytes("ab"));
    EXPECT_NE(digest.hex(), kAbc);
    digest.update(bytes("c"));
    EXPECT_EQ(digest.hex(), kAbc);
    EXPECT_EQ(digest.hex(), kAbc);
}

TEST(Sha256, moves_with_what_it_was_fed) {
    Sha256 digest;
    digest.update(bytes("ab"));
    Sha256 moved = std::move(digest);
    moved.update(bytes("c"));
    EXPECT_EQ(moved.hex(), kAbc);
}

TEST(Sha256, goes_its_own_way_from_a_copy) {
    Sha256 digest;
    digest.update(bytes("ab"));
    Sha256 twin = digest.copy();
    twin.update(bytes("c"));
    EXPECT_EQ(twin.hex(), kAbc);
    EXPECT_EQ(digest.hex(), sha256("ab"));
}

// The reference implementation's values, high half first.
TEST(Xxh3, gives_the_reference_answers) {
    EXPECT_EQ(xxh3_128_hex({}), "99aa06d3014798d86001c324468d497f");
    EXPECT_EQ(xxh3_128_hex(bytes("abc")), "06b05ab6733a618578af5f94892f3950");
}

}  // namespace kvik
