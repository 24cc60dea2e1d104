// The table of pre-tokenizer patterns: a new one is one row.
//
// Shape   each split runs over the pieces of the one before it and sees nothing outside of its
//         piece: a look-ahead at the end of a piece sees the end. What a split does not match stays
//         a piece. Patterns never match the empty string and need linear time.
// Source  white space is spelled out as [\t-\r\x{85}\p{Z}], Unicode's White_Space; the \s of PCRE2
//         has U+180E as well, the regular expressions of the models' own tokenizers do not.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace kvik {

// Whether a piece that is a token as a whole is taken as it is, or only where merges lead to it.
enum class WholePieces : uint8_t { merged, taken };

struct PretokenizerPattern {
    std::string_view name;                   // as the file names it
    std::array<std::string_view, 2> splits;  // in order; empty ones are not there
    WholePieces whole = WholePieces::merged;
};

inline constexpr std::string_view kGpt2Split =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\t-\r\x{85}\p{Z}\p{L}\p{N}]+)"
    R"(|[\t-\r\x{85}\p{Z}]+(?![^\t-\r\x{85}\p{Z}]))";

inline constexpr std::string_view kLlama3Split =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
    R"(| ?[^\t-\r\x{85}\p{Z}\p{L}\p{N}]+[\r\n]*|[\t-\r\x{85}\p{Z}]*[\r\n]+)"
    R"(|[\t-\r\x{85}\p{Z}]+(?![^\t-\r\x{85}\p{Z}]))";

inline constexpr std::array kPretokenizerPatterns = {
    PretokenizerPattern{"gpt2", {kGpt2Split}},
    PretokenizerPattern{"gpt-2", {kGpt2Split}},
    PretokenizerPattern{"smollm", {R"(\p{N})", kGpt2Split}},
    PretokenizerPattern{"llama-bpe", {kLlama3Split}, WholePieces::taken},
};

}  // namespace kvik
