// For tests: a refusal and the words that it must have.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvik {

// `result` is an error of this kind, on one line, that contains every one of `words`.
template <class T>
void expect_refused(const Result<T>& result, ErrorKind kind,
                    std::initializer_list<std::string_view> words) {
    ASSERT_FALSE(result.has_value());
    const std::string& message = result.error().message;
    EXPECT_EQ(result.error().kind, kind) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const std::string_view word : words)
        EXPECT_NE(message.find(word), std::string::npos) << "no \"" << word << "\" in: " << message;
}

}  // namespace kvik
