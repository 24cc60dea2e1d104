#include "cli/flags/habits.h"

#include <gtest/gtest.h>

#include <set>

namespace kvik::cli {
namespace {

TEST(Habits, a_name_stands_once_and_a_refused_one_says_what_to_write) {
    std::set<std::string_view> names;
    for (const Habit& habit : all_habits()) {
        for (const std::string_view name : split(habit.names, ' ')) {
            EXPECT_TRUE(name.starts_with('-')) << name;
            EXPECT_TRUE(names.insert(name).second) << name;
        }
        EXPECT_EQ(habit.told.empty(), habit.kind == HabitKind::silent) << habit.names;
        EXPECT_LT(habit.told.size(), 120u) << habit.names;
    }
}

TEST(Habits, what_a_verb_has_itself_stays_its_own) {
    std::string mine;
    Flags flags("run", "one answer");
    flags.add({.name = "--prio", .value = "X", .set = into(mine)});
    add_habits(flags);
    const std::vector<std::string> args = {"--prio", "5", "--mirostat", "0"};
    ASSERT_TRUE(flags.parse(args, [](const std::string&) { return std::nullopt; }));
    EXPECT_EQ(mine, "5");
    const std::vector<std::string> refused = {"--mirostat", "2"};
    EXPECT_FALSE(flags.parse(refused, [](const std::string&) { return std::nullopt; }));
}

}  // namespace
}  // namespace kvik::cli
