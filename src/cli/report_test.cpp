#include "cli/report.h"

#include <gtest/gtest.h>

#include "cli/terminal.h"

namespace kvik::cli {
namespace {

TEST(Report, tells_json_the_kind_and_the_code) {
    EXPECT_EQ(describe_error({ErrorKind::cancelled, "interrupted"}, ErrorFormat::json),
              "{\"error\":{\"kind\":\"cancelled\",\"code\":130,\"message\":\"interrupted\"}}\n");
}

TEST(Report, tells_text_in_one_line_without_control_characters) {
    EXPECT_EQ(describe_error({ErrorKind::file, "a\nb\x1b[2J"}, ErrorFormat::text),
              "kvik: a b\\x1b[2J\n");
}

TEST(Printable, escapes_what_steers_a_terminal_and_nothing_else) {
    EXPECT_EQ(printable("plain, \xc3\xa9 \xe2\x82\xac"), "plain, \xc3\xa9 \xe2\x82\xac");
    EXPECT_EQ(printable("\x1b]0;t\x07\r\n\t\x7f"), "\\x1b]0;t\\x07\\x0d\\x0a\\x09\\x7f");
    EXPECT_EQ(printable("\xc2\x9b"
                        "2J \xc2\xa0"),
              "\\xc2\\x9b"
              "2J \xc2\xa0");
}

}  // namespace
}  // namespace kvik::cli
