// For tests: finds a place in bytes and writes a lie there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace kvik {

// Where `text` stands for the first time, after skipping `skip` of its appearances.
inline size_t find_bytes(std::span<const std::byte> bytes, std::string_view text, int skip = 0) {
    const auto raw = std::as_bytes(std::span(text));
    auto at = std::search(bytes.begin(), bytes.end(), raw.begin(), raw.end());
    for (; skip > 0 && at != bytes.end(); --skip)
        at = std::search(at + 1, bytes.end(), raw.begin(), raw.end());
    KVIK_CHECK(at != bytes.end(), "a test lies about something that is there");
    return static_cast<size_t>(at - bytes.begin());
}

template <class T>
std::vector<std::byte> with_bytes_at(std::vector<std::byte> bytes, size_t offset, T value) {
    KVIK_CHECK(offset + sizeof(T) <= bytes.size(), "a lie fits its file");
    std::memcpy(bytes.data() + offset, &value, sizeof(T));
    return bytes;
}

}  // namespace kvik
