// Pretokenizer: cuts a text into the pieces that byte-pair merges never cross.
//
// Use       named("smollm") or of(expressions), then split(text, ends): piece i is
//           text[ends[i - 1], ends[i]).
// Owner     the compiled patterns.   Threads  const from any thread.
// Cost      linear for the table's patterns, about 20 ns a piece with PCRE2's JIT, slower without.
// Invariant pieces cover the text in order and none is empty; a run of bytes that are not UTF-8 is
//           a piece of its own; splits of the same text are equal with and without JIT.
// Errors    a name that the table lacks, an expression that is not to be had: unsupported.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/pretokenizer_patterns.h"

namespace kvik {

enum class Matching : uint8_t { jit, interpreted };  // jit: where the machine allows it

class Pretokenizer {
  public:
    static Result<Pretokenizer> named(std::string_view name, Matching matching = Matching::jit);
    static Result<Pretokenizer> of(std::span<const std::string_view> splits, WholePieces whole,
                                   Matching matching = Matching::jit);
    Pretokenizer(Pretokenizer&&) noexcept;
    Pretokenizer& operator=(Pretokenizer&&) noexcept;
    ~Pretokenizer();

    WholePieces whole_pieces() const;
    // Whether a piece ends between any printable ASCII character and a space after it, and what
    // stands before is split as if the text ended there. False: it does not, or nobody knows.
    bool ends_before_spaces() const;
    void split(std::string_view text, std::vector<uint32_t>& ends) const;  // text under 4 GiB

  private:
    struct Compiled;
    explicit Pretokenizer(std::unique_ptr<Compiled> compiled);
    std::unique_ptr<Compiled> compiled_;
};

}  // namespace kvik
