// Small tokenizers and random texts for the tests of this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace kvik::testing {

using Random = std::mt19937_64;

inline size_t below(Random& random, size_t n) {
    return random() % n;
}

// Ids of the tiny vocabularies that tests name.
inline constexpr TokenId kStart = 256;  // "<|start|>", control
inline constexpr TokenId kEnd = 257;    // "<|end|>", control
inline constexpr TokenId kRule = 258;   // "<hr>", user-defined

// Byte-level BPE: 256 bytes, three specials and a dozen merges.
TokenizerSpec tiny_bpe_spec();
// SentencePiece: 256 byte tokens, three specials, letters, syllables and runs of spaces.
TokenizerSpec tiny_spm_spec();

std::unique_ptr<Tokenizer> tokenizer_of(TokenizerSpec spec);  // a spec that is known to be good
std::string error_of(TokenizerSpec spec);                     // "" if it makes a tokenizer

// Up to `n_parts` parts: letters, digits, white space, UTF-8 of all lengths, specials, broken
// bytes.
std::string random_text(Random& random, size_t n_parts);
// Only letters that merge, spaces and line ends: no special, no broken byte.
std::string random_words(Random& random, size_t n_parts);

// Naive twin of merge_pairs: scans for the best pair until none is left. `rank_of` gives the rank
// of a merged piece, kNoPair where there is none.
template <class RankOf>
std::vector<std::string> merge_by_scanning(std::vector<std::string> pieces, const RankOf& rank_of) {
    for (;;) {
        size_t best = pieces.size();
        uint32_t best_rank = UINT32_MAX;
        for (size_t i = 0; i + 1 < pieces.size(); ++i) {
            const uint32_t rank = rank_of(pieces[i], pieces[i + 1]);
            if (rank < best_rank) best = i, best_rank = rank;
        }
        if (best == pieces.size()) return pieces;
        pieces[best] += pieces[best + 1];
        pieces.erase(pieces.begin() + static_cast<ptrdiff_t>(best) + 1);
    }
}

}  // namespace kvik::testing
