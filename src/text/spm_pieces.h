// What the SentencePiece kinds (by scores, by merges, Unigram) have in common: their pieces, and
// what becomes of text that has none.
//
// Errors    byte tokens that are misspelled or not all there.
// Invariant U+2581 in a piece is a space. Control and byte tokens are no pieces of text: only a
//           byte that has no other token becomes its byte token.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer_merge.h"
#include "text/tokenizer_vocab.h"

namespace kvik {

// What a character without a token becomes: its bytes' tokens, the unknown token, or nothing.
struct SpmFallback {
    std::array<TokenId, 256> byte_ids{};  // all, or all kNoToken
    TokenId unk = kNoToken;
    bool fuses = false;

    bool is_nothing() const { return byte_ids[0] == kNoToken && unk == kNoToken; }
    // An unknown token right after another one at or behind ids[n_before] is the same one, if it
    // fuses.
    void append(std::string_view bytes, size_t n_before, std::vector<TokenId>& ids) const;
};

// Which pieces text can become.
enum class SpmIndex : uint8_t { normal, all_but_control };

// Fills and indexes the vocabulary's pieces.
Result<SpmFallback> add_spm_pieces(const TokenizerSpec& spec, SpmIndex index, Vocab& vocab);

// A stretch with plain spaces, and one before it where `prefix` says so.
std::string with_plain_spaces(std::string_view text, SpacePrefix prefix, Place place);

}  // namespace kvik
