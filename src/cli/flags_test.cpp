#include "cli/flags.h"

#include <gtest/gtest.h>

#include <map>

namespace kvik::cli {
namespace {

// A verb with one flag of each kind.
struct Verb {
    std::string model, prompt;
    bool json = false;
    float temperature = 0.7f;
    uint32_t threads = 0;
    std::vector<std::string> stop;
    std::map<std::string, std::string> variables;

    Result<Parsed> parse(std::vector<std::string> args) {
        Flags flags = table();
        return flags.parse(args, [&](const std::string& name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            if (found == variables.end()) return std::nullopt;
            return found->second;
        });
    }
    Flags table() {
        Flags flags("run", "one answer");
        flags.argument({.name = "MODEL", .help = "a file", .set = into(model)});
        flags.argument({.name = "PROMPT",
                        .help = "what to ask",
                        .set = into(prompt),
                        .presence = Presence::optional});
        flags.add({.name = "--json", .help = "one object", .set = turn_on(json)});
        flags.add({.name = "--temp",
                   .value = "T",
                   .help = "temperature",
                   .set = into(temperature, {0, 100})});
        flags.add({.name = "--threads",
                   .value = "N",
                   .help = "threads",
                   .set = into(threads, {1, 64}),
                   .variable = "KVIK_THREADS"});
        flags.add({.name = "--stop",
                   .value = "S",
                   .help = "stop string",
                   .set = append_to(stop),
                   .times = Times::many});
        return flags;
    }
    std::string refusal(std::vector<std::string> args) {
        const auto parsed = parse(std::move(args));
        return parsed ? "accepted" : parsed.error().message;
    }
};

TEST(Flags, values_come_apart_or_joined) {
    for (const auto& args : {std::vector<std::string>{"m", "--temp", "0.5", "--threads=3", "hi"},
                             {"--temp=0.5", "m", "hi", "--threads", "3"}}) {
        Verb verb;
        ASSERT_TRUE(verb.parse(args));
        EXPECT_EQ(verb.model, "m");
        EXPECT_EQ(verb.prompt, "hi");
        EXPECT_EQ(verb.temperature, 0.5f);
        EXPECT_EQ(verb.threads, 3u);
    }
}

TEST(Flags, an_unknown_flag_gets_the_nearest_one) {
    Verb verb;
    EXPECT_EQ(verb.refusal({"m", "--thread", "3"}),
              "run has no flag --thread: did you mean --threads?");
    EXPECT_EQ(verb.refusal({"m", "--colour"}), "run has no flag --colour: see kvik run --help");
    EXPECT_EQ(verb.parse({"m", "--colour"}).error().kind, ErrorKind::usage);
}

TEST(Flags, a_flag_of_a_later_version_says_so) {
    const auto parsed = Verb().parse({"m", "--beams", "4"});
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().kind, ErrorKind::unsupported);
    EXPECT_EQ(parsed.error().message, "--beams is not available in this version");
}

TEST(Flags, a_refused_value_names_its_flag) {
    EXPECT_EQ(Verb().refusal({"m", "--temp", "-1"}), "--temp: '-1' is not a number from 0 to 100");
}

TEST(Flags, a_value_is_never_a_known_flag) {
    EXPECT_EQ(Verb().refusal({"m", "--temp", "--json"}), "--temp needs a value: --temp T");
    EXPECT_EQ(Verb().refusal({"m", "--temp"}), "--temp needs a value: --temp T");
    Verb verb;
    ASSERT_TRUE(verb.parse({"m", "--stop=--json"}));
    EXPECT_EQ(verb.stop, std::vector<std::string>{"--json"});
}

TEST(Flags, a_switch_takes_no_value) {
    EXPECT_EQ(Verb().refusal({"m", "--json=yes"}), "--json takes no value");
}

TEST(Flags, only_a_repeatable_flag_comes_twice) {
    EXPECT_EQ(Verb().refusal({"m", "--temp", "1", "--temp=1"}), "--temp is given twice");
    Verb verb;
    ASSERT_TRUE(verb.parse({"m", "--stop", "a", "--stop", "b"}));
    EXPECT_EQ(verb.stop, (std::vector<std::string>{"a", "b"}));
}

TEST(Flags, a_double_dash_ends_the_flags) {
    Verb verb;
    ASSERT_TRUE(verb.parse({"m", "--", "--json"}));
    EXPECT_EQ(verb.prompt, "--json");
    EXPECT_FALSE(verb.json);
}

TEST(Flags, missing_and_surplus_arguments_are_named) {
    EXPECT_EQ(Verb().refusal({}), "MODEL is missing: see kvik run --help");
    EXPECT_EQ(Verb().refusal({"m", "what", "is"}),
              "unexpected argument 'is' (quote a text of several words)");
}

TEST(Flags, an_argument_beats_the_environment) {
    Verb verb;
    verb.variables["KVIK_THREADS"] = "5";
    ASSERT_TRUE(verb.parse({"m"}));
    EXPECT_EQ(verb.threads, 5u);
    ASSERT_TRUE(verb.parse({"m", "--threads", "2"}));
    EXPECT_EQ(verb.threads, 2u);
}

TEST(Flags, a_bad_variable_is_refused_by_its_name_unless_an_argument_beats_it) {
    Verb verb;
    verb.variables["KVIK_THREADS"] = "many";
    EXPECT_EQ(verb.refusal({"m"}), "KVIK_THREADS: 'many' is not a whole number from 1 to 64");
    EXPECT_TRUE(verb.parse({"m", "--threads", "2"}));
}

TEST(Flags, an_empty_variable_counts_as_unset) {
    Verb verb;
    verb.variables["KVIK_THREADS"] = "";
    ASSERT_TRUE(verb.parse({"m"}));
    EXPECT_EQ(verb.threads, 0u);
}

TEST(Flags, help_is_asked_for_anywhere_and_shows_every_flag) {
    Verb verb;
    EXPECT_EQ(verb.parse({"--temp", "1", "--help"}).value(), Parsed::help);
    const std::string help = verb.table().help();
    for (const char* part : {"kvik run MODEL [PROMPT] [flags]", "--json", "--temp T", "--stop S",
                             "threads [KVIK_THREADS]"})
        EXPECT_NE(help.find(part), std::string::npos) << part << " in\n" << help;
}

}  // namespace
}  // namespace kvik::cli
