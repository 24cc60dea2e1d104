#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/check.h"

namespace kvik {
namespace {

Result<int> parse(int n) {
    if (n < 0) return fail(ErrorKind::usage, "n is negative");
    return n;
}

Result<void> accept(int n) {
    if (n > 10) return fail(ErrorKind::context, "n is over 10");
    return {};
}

Result<int> sum(int a, int b, int& n_steps) {
    KVIK_TRY(const int x, parse(a));
    ++n_steps;
    KVIK_TRY(const int y, parse(b));
    ++n_steps;
    KVIK_TRY_VOID(accept(x + y));
    ++n_steps;
    return x + y;
}

Result<std::unique_ptr<int>> boxed(int n) {
    KVIK_TRY(auto value, parse(n));
    return std::make_unique<int>(value);
}

Result<int> unboxed(int n) {
    int out = 0;
    KVIK_TRY(const std::unique_ptr<int> box, boxed(n));
    KVIK_TRY(out, parse(*box));
    return out;
}

}  // namespace

TEST(Result, is_unwrapped_by_try) {
    int n_steps = 0;
    EXPECT_EQ(*sum(3, 4, n_steps), 7);
    EXPECT_EQ(n_steps, 3);
}

TEST(Result, ends_the_function_at_the_first_error) {
    int n_steps = 0;
    const Result<int> result = sum(3, -4, n_steps);
    ASSERT_FALSE(result);
    EXPECT_EQ(n_steps, 1);
    EXPECT_EQ(result.error().kind, ErrorKind::usage);
    EXPECT_EQ(result.error().message, "n is negative");
}

TEST(Result, ends_the_function_at_the_error_of_a_step_without_a_value) {
    int n_steps = 0;
    const Result<int> result = sum(8, 4, n_steps);
    ASSERT_FALSE(result);
    EXPECT_EQ(n_steps, 2);
    EXPECT_EQ(result.error().kind, ErrorKind::context);
}

TEST(Result, hands_on_what_can_only_be_moved) {
    EXPECT_EQ(*unboxed(5), 5);
    EXPECT_FALSE(unboxed(-5));
}

TEST(CheckDeathTest, stops_the_process_and_names_the_law) {
    const auto divide = [](int a, int b) {
        KVIK_CHECK(b != 0, "nobody divides by zero");
        return a / b;
    };
    EXPECT_EQ(divide(6, 3), 2);
    EXPECT_DEATH(divide(6, 0), "broken law: nobody divides by zero \\(b != 0, .*result_test.cpp:");
}

}  // namespace kvik
