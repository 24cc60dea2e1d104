#include "cli/repl/branches.h"

#include <gtest/gtest.h>

#include "testing/hash_model.h"

namespace kvik::cli {
namespace {

class BranchesTest : public ::testing::Test {
  protected:
    BranchesTest() : engine_(open()), branches_(*engine_) {
        branches_.session().restore({{"user", "hello"}, {"assistant", "hi"}});
    }
    static std::unique_ptr<Engine> open() {
        EngineOptions options;
        options.cache_bytes = 4u << 20;
        return std::move(
            *Engine::over(std::make_unique<HashModel>(HashModelOptions{}), std::move(options)));
    }
    std::unique_ptr<Engine> engine_;
    Branches branches_;
};

TEST_F(BranchesTest, a_fork_goes_its_own_way) {
    ASSERT_TRUE(branches_.fork("other").has_value());
    EXPECT_EQ(branches_.current().name, "other");
    EXPECT_EQ(branches_.current().from, "main");
    EXPECT_EQ(branches_.current().n_shared, 2u);
    branches_.session().rewind(0);
    ASSERT_TRUE(branches_.go("main").has_value());
    EXPECT_EQ(branches_.session().messages().size(), 2u);
}

TEST_F(BranchesTest, a_dash_goes_back_to_where_one_came_from) {
    ASSERT_TRUE(branches_.go("-").has_value()) << "from nowhere: it stays";
    EXPECT_EQ(branches_.current().name, "main");
    ASSERT_TRUE(branches_.fork("a").has_value());
    ASSERT_TRUE(branches_.fork("b").has_value());
    ASSERT_TRUE(branches_.go("main").has_value());
    ASSERT_TRUE(branches_.go("-").has_value());
    EXPECT_EQ(branches_.current().name, "b");
    ASSERT_TRUE(branches_.go("-").has_value());
    EXPECT_EQ(branches_.current().name, "main");
}

TEST_F(BranchesTest, a_name_is_made_up_where_none_is_given) {
    ASSERT_TRUE(branches_.fork("fork3").has_value());
    ASSERT_TRUE(branches_.fork("").has_value());
    EXPECT_EQ(branches_.current().name, "fork4");
}

TEST_F(BranchesTest, names_are_told_apart) {
    ASSERT_TRUE(branches_.fork("other").has_value());
    for (const char* name : {"other", "main", "two words", "-", "new\nline"})
        EXPECT_FALSE(branches_.fork(name).has_value()) << name;
    EXPECT_EQ(branches_.all().size(), 2u);
    const auto refused = branches_.go("ohter");
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().message.find("did you mean other?"), std::string::npos);
    EXPECT_EQ(branches_.current().name, "other");
}

}  // namespace
}  // namespace kvik::cli
