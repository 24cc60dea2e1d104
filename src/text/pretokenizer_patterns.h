// The table of pre-tokenizer patterns: a new one is one row.
//
// Shape   each split runs over the pieces of the one before it and sees nothing outside of its
//         piece: a look-ahead at the end of a piece sees the end. What a split does not match stays
//         a piece. Patterns never match the empty string and need linear time.
// Source  the expressions are written as the models' own files have them (pretokenizer_regex.h
//         says what they mean); the names are those of GGUF's tokenizer.ggml.pre, and which name
//         has which pattern, whole pieces and BOS is as llama.cpp has it (llama_cpp_python 0.3.36).
//         Names of one pattern differ in their row alone. Not here: names whose vocabulary is not
//         over bytes, or whose pattern has a word boundary or matches the empty string.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace kvik {

// Whether a piece that is a token as a whole is taken as it is, or only where merges lead to it.
enum class WholePieces : uint8_t { merged, taken };

// Whether BOS comes before a text where the file does not say.
enum class BosHabit : uint8_t { none, first };

inline constexpr size_t kMostSplits = 5;
using PretokenizerSplits = std::array<std::string_view, kMostSplits>;  // empty ones are not there

struct PretokenizerPattern {
    std::string_view name;             // as the file names it
    const PretokenizerSplits* splits;  // in order
    WholePieces whole = WholePieces::merged;
    BosHabit bos = BosHabit::none;
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

inline constexpr std::string_view kThreeDigits = "[0-9][0-9][0-9]";
inline constexpr std::string_view kUpToThreeNumbers = R"(\p{N}{1,3})";
inline constexpr std::string_view kCjkSplit = R"([\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+)";
inline constexpr std::string_view kBloomSplit =
    R"( ?[^(\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+)";

inline constexpr PretokenizerSplits kDefaultSplits = {R"([\p{P}\$\+<=>\^~\|]+)", kGpt2Split,
                                                      R"(\p{N}+)", kThreeDigits};
inline constexpr PretokenizerSplits kGpt2Splits = {kGpt2Split};
inline constexpr PretokenizerSplits kDigitSplits = {kDigitSplit, kGpt2Split};
inline constexpr PretokenizerSplits kLlama3Splits = {kLlama3Split};
inline constexpr PretokenizerSplits kQwen2Splits = {kQwen2Split};
inline constexpr PretokenizerSplits kQwen35Splits = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+)"
    R"([\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
inline constexpr PretokenizerSplits kTekkenSplits = {
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
inline constexpr PretokenizerSplits kGpt4oSplits = {
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
inline constexpr PretokenizerSplits kFalconSplits = {R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2Split,
                                                     kThreeDigits};
inline constexpr PretokenizerSplits kBloomSplits = {kBloomSplit};
inline constexpr PretokenizerSplits kVikingSplits = {kBloomSplit, kDigitSplit};
inline constexpr PretokenizerSplits kDeepseekCoderSplits = {
    R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", R"([\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+)",
    kDigitSplit};
inline constexpr PretokenizerSplits kDeepseekV3Splits = {
    kUpToThreeNumbers, kCjkSplit,
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
    R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
inline constexpr PretokenizerSplits kBailingSplits = {
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n])"
    R"(|\s+(?!\S)|\s+)"};
inline constexpr PretokenizerSplits kSeedCoderSplits = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"};
inline constexpr PretokenizerSplits kUfakzekaSplits = {
    R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
inline constexpr PretokenizerSplits kLagunaSplits = {R"([^\n]+|[\n]+)", kQwen2Split};
inline constexpr PretokenizerSplits kMinicpm5Splits = {
    kUpToThreeNumbers,
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"};

inline constexpr std::array kPretokenizerPatterns = {
    PretokenizerPattern{"default", &kDefaultSplits},
    PretokenizerPattern{"gpt2", &kGpt2Splits},
    PretokenizerPattern{"gpt-2", &kGpt2Splits},
    PretokenizerPattern{"phi-2", &kGpt2Splits},
    PretokenizerPattern{"jina-es", &kGpt2Splits},
    PretokenizerPattern{"jina-de", &kGpt2Splits},
    PretokenizerPattern{"jina-v2-es", &kGpt2Splits},
    PretokenizerPattern{"jina-v2-de", &kGpt2Splits},
    PretokenizerPattern{"gigachat", &kGpt2Splits},
    PretokenizerPattern{"a.x-4.0", &kGpt2Splits},
    PretokenizerPattern{"mellum", &kGpt2Splits},
    PretokenizerPattern{"modern-bert", &kGpt2Splits},
    PretokenizerPattern{"mpt", &kGpt2Splits},
    PretokenizerPattern{"olmo", &kGpt2Splits},
    PretokenizerPattern{"jais", &kGpt2Splits},
    PretokenizerPattern{"trillion", &kGpt2Splits},
    PretokenizerPattern{"granite-docling", &kGpt2Splits},
    PretokenizerPattern{"exaone4", &kGpt2Splits},
    PretokenizerPattern{"smollm", &kDigitSplits},
    PretokenizerPattern{"starcoder", &kDigitSplits},
    PretokenizerPattern{"refact", &kDigitSplits},
    PretokenizerPattern{"command-r", &kDigitSplits},
    PretokenizerPattern{"codeshell", &kDigitSplits},
    PretokenizerPattern{"exaone", &kDigitSplits},
    PretokenizerPattern{"minerva-7b", &kDigitSplits},
    PretokenizerPattern{"mellum2", &kDigitSplits},
    PretokenizerPattern{"llama-bpe", &kLlama3Splits, WholePieces::taken, BosHabit::first},
    PretokenizerPattern{"llama3", &kLlama3Splits, WholePieces::taken, BosHabit::first},
    PretokenizerPattern{"llama-v3", &kLlama3Splits, WholePieces::taken, BosHabit::first},
    PretokenizerPattern{"falcon3", &kLlama3Splits, WholePieces::taken, BosHabit::first},
    PretokenizerPattern{"falcon-h1", &kLlama3Splits, WholePieces::taken, BosHabit::first},
    PretokenizerPattern{"pixtral", &kLlama3Splits, WholePieces::taken, BosHabit::first},
    PretokenizerPattern{"midm-2.0", &kLlama3Splits, WholePieces::taken, BosHabit::first},
    PretokenizerPattern{"lfm2", &kLlama3Splits, WholePieces::taken, BosHabit::first},
    PretokenizerPattern{"jina-v5-nano", &kLlama3Splits, WholePieces::taken, BosHabit::first},
    PretokenizerPattern{"glm4", &kLlama3Splits, WholePieces::taken},
    PretokenizerPattern{"glm5", &kLlama3Splits, WholePieces::taken},
    PretokenizerPattern{"chatglm-bpe", &kLlama3Splits},
    PretokenizerPattern{"dbrx", &kLlama3Splits},
    PretokenizerPattern{"smaug-bpe", &kLlama3Splits},
    PretokenizerPattern{"qwen2", &kQwen2Splits},
    PretokenizerPattern{"deepseek-r1-qwen", &kQwen2Splits},
    PretokenizerPattern{"kormo", &kQwen2Splits},
    PretokenizerPattern{"f2llmv2", &kQwen2Splits},
    PretokenizerPattern{"megrez", &kQwen2Splits},
    PretokenizerPattern{"stablelm2", &kQwen2Splits},
    PretokenizerPattern{"hunyuan", &kQwen2Splits},
    PretokenizerPattern{"solar-open", &kQwen2Splits},
    PretokenizerPattern{"grok-2", &kQwen2Splits},
    PretokenizerPattern{"qwen35", &kQwen35Splits},
    PretokenizerPattern{"tekken", &kTekkenSplits, WholePieces::taken, BosHabit::first},
    PretokenizerPattern{"gpt-4o", &kGpt4oSplits},
    PretokenizerPattern{"llama4", &kGpt4oSplits},
    PretokenizerPattern{"kanana2", &kGpt4oSplits},
    PretokenizerPattern{"talkie", &kGpt4oSplits},
    PretokenizerPattern{"minimax-m2", &kGpt4oSplits},
    PretokenizerPattern{"falcon", &kFalconSplits},
    PretokenizerPattern{"poro-chat", &kBloomSplits},
    PretokenizerPattern{"bloom", &kBloomSplits},
    PretokenizerPattern{"gpt3-finnish", &kBloomSplits},
    PretokenizerPattern{"viking", &kVikingSplits},
    PretokenizerPattern{"deepseek-coder", &kDeepseekCoderSplits},
    PretokenizerPattern{"deepseek-v3", &kDeepseekV3Splits},
    PretokenizerPattern{"hunyuan-dense", &kDeepseekV3Splits},
    PretokenizerPattern{"joyai-llm", &kDeepseekV3Splits},
    PretokenizerPattern{"hy_v4", &kDeepseekV3Splits},
    PretokenizerPattern{"bailingmoe", &kBailingSplits},
    PretokenizerPattern{"bailingmoe2", &kBailingSplits},
    PretokenizerPattern{"llada-moe", &kBailingSplits},
    PretokenizerPattern{"seed-coder", &kSeedCoderSplits},
    PretokenizerPattern{"ufakzeka", &kUfakzekaSplits},
    PretokenizerPattern{"laguna", &kLagunaSplits},
    PretokenizerPattern{"minicpm5", &kMinicpm5Splits, WholePieces::taken},
};

// Nothing: the table has no such name.
constexpr const PretokenizerPattern* find_pretokenizer_pattern(std::string_view name) {
    for (const PretokenizerPattern& row : kPretokenizerPatterns)
        if (row.name == name) return &row;
    return nullptr;
}

// These match every character, so that keeping only what they match is keeping everything.
inline constexpr std::array kWholeTextSplits = {kGpt2Split, kLlama3Split, kQwen2Split};

}  // namespace kvik
