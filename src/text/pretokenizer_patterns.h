// The table of pre-tokenizer patterns: a new one is one row.
//
// Shape   each split runs over the pieces of the one before it and sees nothing outside of its
//         piece: a look-ahead at the end of a piece sees the end. What a split does not match stays
//         a piece. Patterns never match the empty string and need linear time.
// Source  the expressions are written as the models' own files have them (pretokenizer_regex.h
//         says what they mean); the names are those of GGUF's tokenizer.ggml.pre.
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

inline constexpr std::string_view kDigitSplit = R"(\p{N})";

inline constexpr std::string_view kGpt2Split =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

inline constexpr std::string_view kLlama3Split =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

inline constexpr std::string_view kQwen2Split =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

inline constexpr std::array kPretokenizerPatterns = {
    PretokenizerPattern{"gpt2", {kGpt2Split}},
    PretokenizerPattern{"gpt-2", {kGpt2Split}},
    PretokenizerPattern{"phi-2", {kGpt2Split}},
    PretokenizerPattern{"smollm", {kDigitSplit, kGpt2Split}},
    PretokenizerPattern{"starcoder", {kDigitSplit, kGpt2Split}},
    PretokenizerPattern{"refact", {kDigitSplit, kGpt2Split}},
    PretokenizerPattern{"llama-bpe", {kLlama3Split}, WholePieces::taken},
    PretokenizerPattern{"llama3", {kLlama3Split}, WholePieces::taken},
    PretokenizerPattern{"llama-v3", {kLlama3Split}, WholePieces::taken},
    PretokenizerPattern{"qwen2", {kQwen2Split}},
};

// These match every character, so that keeping only what they match is keeping everything.
inline constexpr std::array kWholeTextSplits = {kGpt2Split, kLlama3Split, kQwen2Split};

}  // namespace kvik
