// TellingIterator: characters for a parser, telling how far it has read, so that its events have a
// place: behind the last byte of a string or bracket, and one byte further behind a number.
#pragma once

#include <cstddef>
#include <iterator>

namespace kvik {

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
