// JSON from outside as a tree: a bounded depth, no key twice, valid UTF-8.
//
// Use     include <nlohmann/json.hpp> in the .cpp that reads the tree; this header stays light.
// Cost    linear; the tree takes some ten times the bytes of the text, of "[{},{},...]" forty.
// Errors  ErrorKind::file: the file, what is wrong, and behind which byte it was found.
// Source  RFC 8259.
#pragma once

#include <cstddef>
#include <iterator>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvik {

inline constexpr uint32_t kMaxJsonDepth = 64;
inline constexpr uint64_t kMaxJsonBytes = 256 << 20;  // of a file; large vocabularies take 40 MiB

// `file` is for messages.
Result<nlohmann::json> parse_json(std::string_view text, const std::string& file);

// ----
// TellingIterator: characters for a parser, telling how far it has read, so that its events have a
// place: behind the last byte of a string or bracket, and one byte further behind a number.

struct TellingIterator {
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    const char* at;
    const char** told;

    reference operator*() const { return *at; }
    TellingIterator& operator++() {
        *told = ++at;
        return *this;
    }
    TellingIterator operator++(int) {
        TellingIterator old = *this;
        ++*this;
        return old;
    }
    bool operator==(const TellingIterator& other) const { return at == other.at; }
    bool operator!=(const TellingIterator& other) const { return at != other.at; }
};

}  // namespace kvik
