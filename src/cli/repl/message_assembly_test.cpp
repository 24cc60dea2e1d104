#include "cli/repl/message_assembly.h"

#include <gtest/gtest.h>

#include <vector>

namespace kvik::cli {
namespace {

using State = MessageAssembly::State;

struct Outcome {
    std::string text;
    bool quoted;
    size_t n_taken;
    bool operator==(const Outcome&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
    return out << '[' << outcome.text << "] quoted " << outcome.quoted << " after "
               << outcome.n_taken;
}

// The first message that the lines make.
Outcome assemble(const std::vector<std::string>& lines) {
    MessageAssembly assembly;
    size_t n_taken = 0;
    while (n_taken < lines.size() && assembly.take(lines[n_taken++]) == State::wants_more) {
    }
    const Typed typed = assembly.finish();
    return {typed.text, typed.quoted, n_taken};
}

TEST(MessageAssembly, a_line_is_a_message_as_it_stands) {
    for (const char* line : {"hello", "", "  blanks  ", "say \"\"\" in the middle", "two\\\\"})
        EXPECT_EQ(assemble({line, "next"}), (Outcome{line, false, 1}));
}

TEST(MessageAssembly, a_backslash_at_the_end_goes_on_in_the_next_line) {
    EXPECT_EQ(assemble({"one\\", "two\\", "three", "four"}),
              (Outcome{"one\ntwo\nthree", false, 3}));
    EXPECT_EQ(assemble({"\\", "x"}), (Outcome{"\nx", false, 2}));
    EXPECT_EQ(assemble({"a\\\\\\", "b"}), (Outcome{"a\\\\\nb", false, 2}));
    EXPECT_EQ(assemble({"blank after \\ ", "b"}), (Outcome{"blank after \\ ", false, 1}));
}

TEST(MessageAssembly, quotes_hold_several_lines_and_whatever_is_in_them) {
    EXPECT_EQ(assemble({"\"\"\"", "one", "", "/exit\\", "\"\"\"", "next"}),
              (Outcome{"one\n\n/exit\\", true, 5}));
    EXPECT_EQ(assemble({"\"\"\"one", "two\"\"\"  ", "next"}), (Outcome{"one\ntwo", true, 2}));
    EXPECT_EQ(assemble({" \"\"\"one\"\"\"", "next"}), (Outcome{"one", true, 1}));
    EXPECT_EQ(assemble({"\"\"\"", "a \"\"\" b", "\"\"\""}), (Outcome{"a \"\"\" b", true, 3}));
    EXPECT_EQ(assemble({"\"\"\"", "", "", "\"\"\""}), (Outcome{"\n", true, 4}));
    EXPECT_EQ(assemble({"\"\"\"\"\"\"", "next"}), (Outcome{"", true, 1}));
}

TEST(MessageAssembly, a_paste_of_several_lines_is_one_message) {
    EXPECT_EQ(assemble({"one\ntwo\\", "next"}), (Outcome{"one\ntwo\\", false, 1}));
    EXPECT_EQ(assemble({"\"\"\"\none\ntwo\n\"\"\"\n", "next"}), (Outcome{"\none\ntwo\n", true, 1}));
    EXPECT_EQ(assemble({"\"\"\"", "one\ntwo", "three", "\"\"\""}),
              (Outcome{"one\ntwo\nthree", true, 4}));
}

TEST(MessageAssembly, the_end_of_input_ends_a_message) {
    EXPECT_EQ(assemble({"\"\"\"", "one", "two"}), (Outcome{"one\ntwo", true, 3}));
    EXPECT_EQ(assemble({"one\\"}), (Outcome{"one", false, 1}));
}

TEST(MessageAssembly, begins_anew_after_each_message) {
    MessageAssembly assembly;
    EXPECT_EQ(assembly.take("\"\"\""), State::wants_more);
    EXPECT_TRUE(assembly.is_open());
    EXPECT_EQ(assembly.take("x"), State::wants_more);
    assembly.finish();
    EXPECT_FALSE(assembly.is_open());
    EXPECT_EQ(assembly.take("y"), State::complete);
    const Typed typed = assembly.finish();
    EXPECT_EQ(typed.text, "y");
    EXPECT_FALSE(typed.quoted);
    EXPECT_EQ(assembly.take("\"\"\"z\"\"\""), State::complete);
    EXPECT_EQ(assembly.finish().text, "z");
}

}  // namespace
}  // namespace kvik::cli
