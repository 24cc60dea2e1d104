#include "cli/report.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace kvik::cli
