// TrustedReach: how far a control token may reach from a place in a marked text.
//
// Use     from(at) for ascending places, over ascending ranges.
// Owner   borrows the ranges.   Cost  linear in ranges and places together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "text/tokenizer.h"

namespace kvik {

class TrustedReach {
  public:
    explicit TrustedReach(std::span<const ByteRange> untrusted) : untrusted_(untrusted) {}

    size_t from(size_t at) {
        while (next_ < untrusted_.size() && (untrusted_[next_].end <= at || is_empty(next_)))
            ++next_;
        if (next_ == untrusted_.size()) return SIZE_MAX;
        const size_t begin = untrusted_[next_].begin;
        return begin > at ? begin - at : 0;
    }

  private:
    bool is_empty(size_t i) const { return untrusted_[i].begin >= untrusted_[i].end; }

    std::span<const ByteRange> untrusted_;
    size_t next_ = 0;
};

}  // namespace kvik
