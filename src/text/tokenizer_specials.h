// SpecialTrie: the tokens that are found in the text as they are written, longest first.
//
// Shape     a trie whose nodes keep their children as a list, below a table for the first byte.
// Threads   const from any thread.
// Cost      one table look-up at a byte where nothing starts; else the bytes of the longest match.
//           The file decides how long that is: tokens are at most kMaxTokenBytes.
// Invariant a control token is never found longer than the caller allows at that place, which is
//           how untrusted text is kept from writing one; user-defined tokens are found everywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "text/tokenizer.h"

namespace kvik {

enum class SpecialUse : uint8_t { control, user_defined };

inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581

class SpecialTrie {
  public:
    struct Hit {
        TokenId id = 0;
        size_t n_bytes = 0;  // of the text
    };

    SpecialTrie(SpaceMark mark, size_t n_specials);

    // Makes `spelling`, not empty, findable, or returns the token that is spelled like this
    // already.
    std::optional<TokenId> add(std::string_view spelling, TokenId id, SpecialUse use);
    // The longest token at the start of `text`; control tokens of at most `max_control_bytes`.
    std::optional<Hit> longest(std::string_view text, size_t max_control_bytes) const;
    std::optional<TokenId> find(std::string_view spelling) const;  // exactly
    bool empty() const { return nodes_.size() == 1; }
    size_t longest_spelling() const { return longest_spelling_; }  // most bytes that one takes

  private:
    static constexpr uint32_t kNone = 0;  // the root is nobody's child
    static constexpr TokenId kNoId = -1;

    struct Node {
        char byte = 0;
        SpecialUse use = SpecialUse::control;
        TokenId id = kNoId;
        uint32_t child = kNone;
        uint32_t sibling = kNone;
    };

    uint32_t step(uint32_t node, char byte) const;
    // The next byte to walk by and the bytes of text that it stands for.
    char read(std::string_view text, size_t at, size_t& n_bytes) const;

    SpaceMark mark_;
    size_t longest_spelling_ = 0;
    std::array<uint32_t, 256> first_{};
    std::vector<Node> nodes_;
};

}  // namespace kvik
