// Result<T> is what a function returns when the world can fail: files, sockets, requests, budgets.
//
// Errors  an Error carries the kind (which is also the process's exit code) and one line of text
//         that names the thing, the limit and the remedy.
// Use     `KVIK_TRY(auto x, f());` unwraps or returns the error of the enclosing Result function.
//         Our own mistakes are KVIK_CHECK (check.h); "no room" is std::optional.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace kvik {

// The values are exit codes of the command line (docs/contracts.md).
enum class ErrorKind : int {
    failed = 1,
    usage = 2,
    file = 3,
    memory = 4,
    port = 5,
    unsupported = 6,
    context = 7,
    cancelled = 130,
};

struct Error {
    ErrorKind kind = ErrorKind::failed;
    std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
    return tl::unexpected<Error>(Error{kind, std::move(message)});
}

}  // namespace kvik

#define KVIK_CONCAT_2(a, b) a##b
#define KVIK_CONCAT(a, b) KVIK_CONCAT_2(a, b)
#define KVIK_TRY(target, expression) \
    KVIK_TRY_IMPL(KVIK_CONCAT(kvik_try_, __LINE__), target, expression)
#define KVIK_TRY_IMPL(result, target, expression)                                 \
    auto result = (expression);                                                   \
    if (!result) return tl::unexpected<::kvik::Error>(std::move(result).error()); \
    target = std::move(*result)
#define KVIK_TRY_VOID(expression)                                                               \
    do {                                                                                        \
        auto kvik_result = (expression);                                                        \
        if (!kvik_result) return tl::unexpected<::kvik::Error>(std::move(kvik_result).error()); \
    } while (0)
