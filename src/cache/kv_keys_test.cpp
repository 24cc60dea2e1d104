#include "cache/kv_keys.h"

#include <gtest/gtest.h>

namespace kvik {

TEST(NamespaceKey, is_the_same_for_the_same_parts) {
    EXPECT_EQ(namespace_key({"model", "f16"}), namespace_key({"model", "f16"}));
}

TEST(NamespaceKey, differs_when_any_part_or_their_order_differs) {
    const NamespaceKey key = namespace_key({"model", "f16", "salt"});
    EXPECT_NE(key, namespace_key({"model2", "f16", "salt"}));
    EXPECT_NE(key, namespace_key({"model", "f32", "salt"}));
    EXPECT_NE(key, namespace_key({"model", "f16", ""}));
    EXPECT_NE(key, namespace_key({"model", "f16"}));
    EXPECT_NE(key, namespace_key({"f16", "model", "salt"}));
}

TEST(NamespaceKey, keeps_parts_from_running_into_each_other) {
    EXPECT_NE(namespace_key({"ab", "c"}), namespace_key({"a", "bc"}));
    EXPECT_NE(namespace_key({"abc"}), namespace_key({"ab", "c"}));
    EXPECT_NE(namespace_key({"a1:b"}), namespace_key({"a", "b"}));
}

TEST(NamespaceKey, is_anothers_for_every_adapter_and_every_salt) {
    const NamespaceKey base = namespace_key({"model"});
    EXPECT_EQ(namespace_within(base, {}), base);
    const NamespaceKey of_a = namespace_within(base, {.adapter = "digest a, scale 1", .salt = ""});
    const NamespaceKey salted =
        namespace_within(base, {.adapter = "", .salt = "digest a, scale 1"});
    EXPECT_NE(of_a, base);
    EXPECT_NE(salted, base);
    EXPECT_NE(of_a, salted);
    EXPECT_NE(of_a, namespace_within(base, {.adapter = "digest b, scale 1", .salt = ""}));
    EXPECT_NE(of_a, namespace_within(base, {.adapter = "digest a, scale 1", .salt = "s"}));
    EXPECT_NE(of_a, namespace_within(namespace_key({"model2"}),
                                     {.adapter = "digest a, scale 1", .salt = ""}));
}

}  // namespace kvik
