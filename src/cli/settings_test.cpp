#include "cli/settings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace kvik::cli {
namespace {

const std::vector<VerbKeys> kKnown = {
    {"run", {{"temp", Settable::anywhere}, {"ctx", Settable::anywhere}, {"json", {}}}},
    {"bench", {{"ctx", Settable::anywhere}, {"p", Settable::per_verb}}},
};

std::string refusal(std::string_view text) {
    const auto entries = read_toml(text, "c.toml");
    EXPECT_TRUE(entries);
    const auto checked = check_settings({.file = "c.toml", .entries = *entries}, kKnown);
    if (checked) return "accepted";
    EXPECT_EQ(checked.error().kind, ErrorKind::usage);
    return checked.error().message;
}

Environment environment(std::map<std::string, std::string> variables) {
    return [variables = std::move(variables)](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
}

TEST(Settings, a_known_key_stands_at_the_top_or_in_the_table_of_a_verb_that_has_it) {
    EXPECT_EQ(refusal("temp = 1\nctx = 5\n[run]\ntemp = 2\n[bench]\nctx = 3\np = 1\n"), "accepted");
}

TEST(Settings, an_unknown_key_gets_file_line_and_the_nearest) {
    EXPECT_EQ(refusal("\ntmep = 1"),
              "c.toml:2: 'tmep' is no key of a configuration file: did you mean temp?");
    EXPECT_EQ(refusal("[bench]\ntemp = 1"),
              "c.toml:2: 'temp' is no key of [bench]: kvik VERB --help lists the flags that a file "
              "may set");
    EXPECT_EQ(refusal("[rum]"), "c.toml:1: [rum] is no verb of kvik: did you mean run?");
}

TEST(Settings, a_key_in_the_wrong_place_is_told_its_place) {
    EXPECT_EQ(refusal("p = 1"), "c.toml:1: 'p' is a key of a verb's table, not of the file's top");
    EXPECT_EQ(refusal("[run]\njson = true"),
              "c.toml:2: 'json' is no setting: it is given as an argument, --json");
}

TEST(Settings, the_file_is_looked_for_where_the_user_s_configuration_lies) {
    EXPECT_EQ(own_config_file(environment({{"HOME", "/h"}})), "/h/.config/kvik/config.toml");
    EXPECT_EQ(own_config_file(environment({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/x"}})),
              "/x/kvik/config.toml");
    EXPECT_EQ(own_config_file(environment({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "x"}})),
              "/h/.config/kvik/config.toml");
    EXPECT_EQ(own_config_file(environment({})), std::nullopt);
    EXPECT_EQ(own_state_folder(environment({{"HOME", "/h"}})), "/h/.local/state/kvik");
    EXPECT_EQ(own_cache_folder(environment({{"HOME", "/h"}})), "/h/.cache/kvik");
    EXPECT_EQ(own_cache_folder(environment({{"XDG_CACHE_HOME", "/x"}})), "/x/kvik");
}

TEST(Settings, a_file_that_was_asked_for_must_be_there_the_user_s_own_need_not) {
    const auto none = environment({{"HOME", "/nowhere"}});
    EXPECT_EQ(read_settings({}, none).value().file, "");
    const auto asked = read_settings({.file = "/nowhere/c.toml"}, none);
    ASSERT_FALSE(asked);
    EXPECT_EQ(asked.error().kind, ErrorKind::file);
    EXPECT_NE(asked.error().message.find("/nowhere/c.toml"), std::string::npos);
}

TEST(Settings, no_file_and_a_file_are_not_asked_for_together) {
    const ConfigChoice both = {.file = "c.toml", .none = true};
    EXPECT_FALSE(read_settings(both, environment({})));
    EXPECT_TRUE(read_settings(both, environment({{"KVIK_CONFIG", "c.toml"}})));
}

TEST(Settings, the_user_s_own_file_is_read_unless_none_is_wanted) {
    const std::filesystem::path home =
        std::filesystem::temp_directory_path() / ("kvik_home_" + std::to_string(::getpid()));
    std::filesystem::create_directories(home / ".config/kvik");
    std::ofstream(home / ".config/kvik/config.toml") << "temp = 1\n";
    const auto own = environment({{"HOME", home}});
    EXPECT_EQ(read_settings({}, own).value().entries.size(), 1u);
    EXPECT_EQ(read_settings({.file = {}, .none = true}, own).value().entries.size(), 0u);
    std::filesystem::remove_all(home);
}

}  // namespace
}  // namespace kvik::cli
