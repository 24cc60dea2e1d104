// KVIK_CHECK states a law of the program; when it breaks, we were wrong, and the process stops.
//
// Use    KVIK_CHECK(n <= capacity, "a batch fits its scratch");
// Cost   one predictable branch; it stays on in release builds.
// Errors never for bad input: that is Result (result.h).
#pragma once

namespace kvik {
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const char* law);
}

#define KVIK_CHECK(condition, law)                                                   \
    do {                                                                             \
        if (!(condition)) ::kvik::check_failed(__FILE__, __LINE__, #condition, law); \
    } while (0)
