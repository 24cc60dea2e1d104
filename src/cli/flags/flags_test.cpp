#include "cli/flags/flags.h"

#include <gtest/gtest.h>

#include <map>

namespace kvik::cli {
namespace {

// A verb with one flag of each kind.
struct Verb {
    std::string model, prompt;
    bool json = false, ignore_eos = false;
    uint32_t top_k = 7;
    uint32_t threads = 0, runs = 3;
    std::vector<std::string> stop;
    std::map<std::string, std::string> variables;
    std::string file;  // its text

    Result<Parsed> parse(std::vector<std::string> args) {
        const auto environment = [&](const std::string& name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            if (found == variables.end()) return std::nullopt;
            return found->second;
        };
        const auto settings = [&]() -> Result<Settings> {
            Settings read{.file = "c.toml", .entries = {}};
            KVIK_TRY(read.entries, read_toml(file, "c.toml"));
            return read;
        };
        return table().parse(args, environment, settings);
    }
    Flags table() {
        Flags flags("run", "one answer");
        flags.argument({.name = "MODEL", .help = "a file", .set = into(model), .flags = {"-m"}});
        flags.argument({.name = "PROMPT",
                        .help = "what to ask",
                        .set = into(prompt),
                        .presence = Presence::optional});
        flags.add({.name = "--json", .help = "one object", .set = turn_on(json)});
        flags.add({.name = "--top-k",
                   .value = "K",
                   .help = "so many",
                   .set = into(top_k, {0, 100}),
                   .settable = Settable::anywhere});
        flags.add({.name = "--threads",
                   .value = "N",
                   .help = "threads",
                   .set = into(threads, {1, 64}),
                   .settable = Settable::anywhere,
                   .aliases = {"-t", "--n-threads"}});
        flags.add({.name = "--ignore-eos",
                   .help = "go on",
                   .set = turn_on(ignore_eos),
                   .settable = Settable::anywhere});
        flags.add({.name = "-r",
                   .value = "N",
                   .help = "runs",
                   .set = into(runs, {1, 9}),
                   .settable = Settable::per_verb});
        flags.add({.name = "--color",
                   .value = "on|off",
                   .set = [](std::string_view) { return Result<void>(); },
                   .aliases = {"-co"},
                   .standing = Standing::idle,
                   .why = "it is plain",
                   .words = {"on", "off"}});
        flags.add({.name = "--mlock",
                   .set = [](std::string_view) { return Result<void>(); },
                   .standing = Standing::idle,
                   .why = "memory is memory"});
        flags.add({.name = "-m", .value = "M", .set = into(model), .standing = Standing::hidden});
        flags.add({.name = "--stop",
                   .value = "S",
                   .help = "stop string",
                   .set = append_to(stop),
                   .settable = Settable::anywhere,
                   .times = Times::many});
        return flags;
    }
    std::string refusal(std::vector<std::string> args) {
        const auto parsed = parse(std::move(args));
        return parsed ? "accepted" : parsed.error().message;
    }
};

TEST(Flags, values_come_apart_or_joined) {
    for (const auto& args : {std::vector<std::string>{"m", "--top-k", "5", "--threads=3", "hi"},
                             {"--top-k=5", "m", "hi", "--threads", "3"}}) {
        Verb verb;
        ASSERT_TRUE(verb.parse(args));
        EXPECT_EQ(verb.model, "m");
        EXPECT_EQ(verb.prompt, "hi");
        EXPECT_EQ(verb.top_k, 5u);
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
    const auto parsed = Verb().parse({"m", "--verify", "4"});
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().kind, ErrorKind::unsupported);
    EXPECT_EQ(parsed.error().message, "--verify is not available in this version");
}

TEST(Flags, a_refused_value_names_its_flag) {
    EXPECT_EQ(Verb().refusal({"m", "--top-k", "-1"}),
              "--top-k: '-1' is not a whole number from 0 to 100");
}

TEST(Flags, a_value_is_never_a_known_flag) {
    EXPECT_EQ(Verb().refusal({"m", "--top-k", "--json"}), "--top-k needs a value: --top-k K");
    EXPECT_EQ(Verb().refusal({"m", "--top-k"}), "--top-k needs a value: --top-k K");
    Verb verb;
    ASSERT_TRUE(verb.parse({"m", "--stop=--json"}));
    EXPECT_EQ(verb.stop, std::vector<std::string>{"--json"});
}

TEST(Flags, a_switch_takes_no_value) {
    EXPECT_EQ(Verb().refusal({"m", "--json=yes"}), "--json takes no value");
}

TEST(Flags, the_last_of_several_counts_unless_they_make_a_list) {
    Verb verb;
    ASSERT_TRUE(verb.parse({"m", "--top-k", "many", "--top-k=1", "--top-k", "5"}));
    EXPECT_EQ(verb.top_k, 5u);
    ASSERT_TRUE(verb.parse({"m", "--ignore-eos", "--ignore-eos=false"}));
    EXPECT_FALSE(verb.ignore_eos);
    ASSERT_TRUE(verb.parse({"m", "--stop", "a", "--stop", "b"}));
    EXPECT_EQ(verb.stop, (std::vector<std::string>{"a", "b"}));
}

TEST(Flags, an_alias_is_the_flag_itself) {
    Verb verb;
    ASSERT_TRUE(verb.parse({"m", "-t", "3"}));
    EXPECT_EQ(verb.threads, 3u);
    ASSERT_TRUE(verb.parse({"m", "--n-threads=4"}));
    EXPECT_EQ(verb.threads, 4u);
    ASSERT_TRUE(verb.parse({"m", "-t", "1", "--threads", "2"}));
    EXPECT_EQ(verb.threads, 2u);
    ASSERT_TRUE(verb.parse({"m", "--n_threads", "6"})) << "llama.cpp takes _ for -";
    EXPECT_EQ(verb.threads, 6u);
    EXPECT_EQ(verb.refusal({"m", "-t", "0"}), "-t: '0' is not a whole number from 1 to 64");
    EXPECT_EQ(verb.refusal({"m", "-t"}), "-t needs a value: -t N");
    verb.variables["KVIK_THREADS"] = "9";
    ASSERT_TRUE(verb.parse({"m", "-t", "5"}));
    EXPECT_EQ(verb.threads, 5u) << "an argument beats the variable by any name";
}

TEST(Flags, a_flag_may_stand_for_a_positional) {
    Verb verb;
    ASSERT_TRUE(verb.parse({"what", "-m", "a"}));
    EXPECT_EQ(verb.model, "a");
    EXPECT_EQ(verb.prompt, "what");
    EXPECT_EQ(verb.refusal({"-m", "a", "what", "is"}),
              "unexpected argument 'is' (quote a text of several words)");
}

TEST(Flags, a_value_that_may_be_left_out_is_one_of_its_words) {
    for (const auto& args : {std::vector<std::string>{"m", "--color", "hi"},
                             {"m", "--color", "on", "hi"},
                             {"m", "hi", "--color"}}) {
        Verb verb;
        ::testing::internal::CaptureStderr();
        ASSERT_TRUE(verb.parse(args));
        EXPECT_EQ(::testing::internal::GetCapturedStderr(),
                  "kvik: --color changes nothing here: it is plain\n");
        EXPECT_EQ(verb.prompt, "hi");
    }
}

TEST(Flags, what_changes_nothing_is_named_as_typed_with_its_reason) {
    Verb verb;
    ::testing::internal::CaptureStderr();
    ASSERT_TRUE(verb.parse({"m", "-co", "on", "--mlock", "--color", "off"}));
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "kvik: --mlock changes nothing here: memory is memory; --color changes nothing here: "
              "it is plain\n");
}

TEST(Flags, a_model_s_defaults_stand_below_the_file) {
    Verb verb;
    const auto none = [](const std::string&) { return std::nullopt; };
    const auto defaults = []() -> Result<Settings> {
        return Settings{.entries = {{.table = "", .key = "top-k", .line = 0, .value = "9"},
                                    {.table = "", .key = "threads", .line = 0, .value = "8"}},
                        .defaults_of = "a model"};
    };
    const auto file = []() -> Result<Settings> {
        return Settings{.file = "c.toml",
                        .entries = {{.table = "", .key = "top-k", .line = 1, .value = "2"}}};
    };
    const std::vector<std::string> args = {"m"};
    ASSERT_TRUE(verb.table().parse(args, none, file, defaults));
    EXPECT_EQ(verb.top_k, 2u);
    EXPECT_EQ(verb.threads, 8u);
}

TEST(Flags, what_does_not_go_together_is_refused_in_the_end) {
    Verb verb;
    Flags flags = verb.table();
    flags.check([&]() -> Result<void> {
        if (verb.top_k == 5) return fail(ErrorKind::usage, "not five");
        return {};
    });
    const auto none = [](const std::string&) { return std::nullopt; };
    const std::vector<std::string> five = {"m", "--top-k", "5"}, four = {"m", "--top-k", "4"};
    EXPECT_EQ(flags.parse(five, none).error().message, "not five");
    EXPECT_TRUE(flags.parse(four, none));
}

TEST(Flags, what_is_hidden_is_in_no_help_hint_or_file) {
    Verb verb;
    EXPECT_EQ(verb.table().help().find("--color"), std::string::npos);
    EXPECT_EQ(verb.refusal({"m", "--colo"}), "run has no flag --colo: see kvik run --help");
    for (const auto& key : verb.table().keys().keys) EXPECT_NE(key.name, "color");
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
    Flags flags("tokenize", "ids of a text");
    std::string text;
    flags.add({.name = "--text", .value = "TEXT", .help = "this text", .set = into(text)});
    const std::vector<std::string> args = {"hello"};
    const auto refused = flags.parse(args, [](const std::string&) { return std::nullopt; });
    EXPECT_EQ(refused.error().message, "unexpected argument 'hello' (a text goes after --text)");
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

TEST(Flags, a_variable_is_the_flag_s_name) {
    EXPECT_EQ((Flag{.name = "--top-k", .settable = Settable::anywhere}).variable(), "KVIK_TOP_K");
    EXPECT_EQ((Flag{.name = "-n", .settable = Settable::anywhere}).variable(), "KVIK_N");
    EXPECT_EQ((Flag{.name = "-r", .settable = Settable::per_verb}).variable(), "");
}

TEST(Flags, a_switch_in_the_environment_is_true_or_false) {
    Verb verb;
    verb.variables["KVIK_IGNORE_EOS"] = "0";
    ASSERT_TRUE(verb.parse({"m"}));
    EXPECT_FALSE(verb.ignore_eos);
    verb.variables["KVIK_IGNORE_EOS"] = "true";
    ASSERT_TRUE(verb.parse({"m"}));
    EXPECT_TRUE(verb.ignore_eos);
    verb.variables["KVIK_IGNORE_EOS"] = "maybe";
    EXPECT_EQ(verb.refusal({"m"}), "KVIK_IGNORE_EOS: 'maybe' is not one of true, false, 1, 0");
}

TEST(Flags, an_argument_says_false_where_a_file_says_true) {
    Verb verb;
    verb.file = "ignore-eos = true";
    ASSERT_TRUE(verb.parse({"m", "--ignore-eos=false"}));
    EXPECT_FALSE(verb.ignore_eos);
    ASSERT_TRUE(verb.parse({"m"}));
    EXPECT_TRUE(verb.ignore_eos);
}

TEST(Flags, arguments_beat_variables_beat_the_verb_s_table_beats_the_file_s_top) {
    const auto top_k = [](std::vector<std::string> args, std::string variable, std::string file) {
        Verb verb;
        if (!variable.empty()) verb.variables["KVIK_TOP_K"] = variable;
        verb.file = std::move(file);
        EXPECT_TRUE(verb.parse(std::move(args)));
        return verb.top_k;
    };
    const std::string file = "top-k = 1\n[chat]\ntop-k = 2\n[run]\ntop-k = 3\n";
    EXPECT_EQ(top_k({"m", "--top-k", "5"}, "4", file), 5u);
    EXPECT_EQ(top_k({"m"}, "4", file), 4u);
    EXPECT_EQ(top_k({"m"}, "", file), 3u);
    EXPECT_EQ(top_k({"m"}, "", "top-k = 1\n[chat]\ntop-k = 2\n"), 1u);
    EXPECT_EQ(top_k({"m"}, "", "run.top-k = 3\ntop-k = 1\n"), 3u);
    EXPECT_EQ(top_k({"m"}, "", ""), 7u);
}

TEST(Flags, what_is_beaten_is_not_read) {
    Verb verb;
    verb.file = "top-k = true\n[run]\ntop-k = 3\n";
    EXPECT_TRUE(verb.parse({"m"}));
    verb.file = "top-k = true\n";
    EXPECT_TRUE(verb.parse({"m", "--top-k=1"}));
    EXPECT_FALSE(verb.parse({"m"}));
}

TEST(Flags, a_file_sets_lists_and_numbers) {
    Verb verb;
    verb.file = "stop = ['a', 'b']\n[run]\nr = 5\n";
    ASSERT_TRUE(verb.parse({"m"}));
    EXPECT_EQ(verb.stop, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(verb.runs, 5u);
}

TEST(Flags, a_bad_value_of_a_file_is_named_with_its_line) {
    const auto refusal = [](std::string file) {
        Verb verb;
        verb.file = std::move(file);
        return verb.refusal({"m"});
    };
    EXPECT_EQ(refusal("\ntop-k = 101"),
              "c.toml:2: top-k: '101' is not a whole number from 0 to 100");
    EXPECT_EQ(refusal("top-k = 1.0"), "c.toml:1: top-k: '1.0' is not a whole number from 0 to 100");
    EXPECT_EQ(refusal("top-k = true"),
              "c.toml:1: top-k: true and false are for switches, this needs K");
    EXPECT_EQ(refusal("[run]\nignore-eos = 'yes'"),
              "c.toml:2: ignore-eos: a switch is true or false");
}

TEST(Flags, what_is_an_argument_only_is_not_taken_from_elsewhere) {
    Verb verb;
    verb.variables["KVIK_JSON"] = "1";
    verb.file = "json = true\nr = 5";
    ASSERT_TRUE(verb.parse({"m"}));
    EXPECT_FALSE(verb.json);
    EXPECT_EQ(verb.runs, 3u);
}

TEST(Flags, help_is_asked_for_anywhere_and_shows_every_flag) {
    Verb verb;
    EXPECT_EQ(verb.parse({"--top-k", "1", "--help"}).value(), Parsed::help);
    const std::string help = verb.table().help();
    for (const char* part : {"kvik run MODEL [PROMPT] [flags]", "--json", "--top-k K", "--stop S",
                             "threads [KVIK_THREADS]"})
        EXPECT_NE(help.find(part), std::string::npos) << part << " in\n" << help;
}

TEST(Flags, help_fits_the_columns_there_are) {
    Verb verb;
    const std::string help = verb.table().help(44);
    for (const std::string_view line : split(help, '\n')) EXPECT_LE(line.size(), 44u) << help;
    std::string words = help, all = verb.table().help();
    for (std::string* text : {&words, &all})
        std::erase_if(*text, [](char c) { return c == ' ' || c == '\n'; });
    EXPECT_EQ(words, all);
}

}  // namespace
}  // namespace kvik::cli
