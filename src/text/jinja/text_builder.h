// TextBuilder: text put together piece by piece, each byte keeping its mark.
//
// Owner     the text so far; the budget is borrowed.
// Cost      amortised O(bytes) + O(ranges); each range of a mixed text costs 16 bytes of budget.
// Invariant the untrusted ranges of the result are ascending, disjoint and not adjacent.
// Errors    past the budget or the longest string nothing more is added and finish() says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "text/jinja/budget.h"
#include "text/tokenizer.h"

namespace kvik::jinja {

enum class Mark : uint8_t { trusted, untrusted };

Mark mark_at(const MarkedText& text, size_t byte);

class TextBuilder {
  public:
    explicit TextBuilder(Budget& budget) : budget_(budget) {}

    void add(std::string_view bytes, Mark mark = Mark::trusted);
    void add(const MarkedText& piece) { add(piece, {0, piece.text.size()}); }
    void add(const MarkedText& from, ByteRange range);
    size_t size() const { return built_.text.size(); }
    bool full() const { return full_; }  // long loops stop here
    Result<MarkedText> finish();         // leaves the builder empty

  private:
    bool take(size_t n_bytes);
    void mark(ByteRange range);

    Budget& budget_;
    MarkedText built_;
    bool full_ = false;
};

}  // namespace kvik::jinja
