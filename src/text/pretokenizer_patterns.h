// The table of pre-tokenizer patterns: a new one is one row.
//
// Shape   each split runs over the pieces of the one before it and sees nothing outside of its
//         piece: a look-ahead at the end of a piece sees the end. What a split does not match stays
//         a piece. Patterns never match the empty string and need linear time.
// Source  expressions are written as the models' files have them; the names are GGUF's
//         (tokenizer.ggml.pre), and what each stands for is as llama_cpp_python 0.3.36 has it. Not
//         here: vocabularies that are not over bytes (gemma4, granite-embed-multi-311m, sarvam-moe,
//         whitespace), a token after the text (jina-v1-en, jina-v2-code, roberta-bpe), digits
//         counted from the end or code of its own (tiny_aya, cohere2moe, superbpe, afmoe, kimi-k2).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace kvik {

// Whether a piece that is a token as a whole is taken as it is, or only where merges lead to it.
enum class WholePieces : uint8_t { merged, taken };

// Whether BOS comes before a text where the file does not say.
enum class BosHabit : uint8_t { none, first };

inline constexpr size_t kMostSplits = 6;
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
inline constexpr PretokenizerSplits kDeepseekLlmSplits = {
    R"([\r\n])",
    R"(\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293)"
    R"(\u0295-\u02af\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c)"
    R"(\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-)"
    R"(\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a)"
    R"(\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d)"
    R"(\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3)"
    R"(\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115)"
    R"(\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-)"
    R"(\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-)"
    R"(\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06)"
    R"(\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\x{10400}-\x{1044f}\x{104b0}-\x{104d3}\x{104d8})"
    R"(-\x{104fb}\x{10c80}-\x{10cb2}\x{10cc0}-\x{10cf2}\x{118a0}-\x{118df}\x{1e900}-\x{1e943})"
    R"(]+)",
    R"(\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+)",
    R"(\s+$)",
    R"([\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+)",
    R"(\p{N}+)"};
inline constexpr PretokenizerSplits kSpark25Splits = {
    kUpToThreeNumbers, kCjkSplit,
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
    R"(| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+)",
    kDigitSplit};
inline constexpr PretokenizerSplits kYoutuSplits = {
    R"([\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b)"
    R"(\uff0c\u3001-\u303f\ufe30-\ufe4f]+|[\u3105-\u312f]+|[\u4e00-\u9fa5\u3040-\u309f\u30a0-)"
    R"(\u30ff]+)",
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|)"
    R"('re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{)"
    R"(Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s)"
    R"(+(?!\S)|\s+)"};
inline constexpr PretokenizerSplits kExaoneMoeSplits = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)"};
inline constexpr PretokenizerSplits kJais2Splits = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r)"
    R"(\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s)"
    R"({16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})"};
inline constexpr PretokenizerSplits kChameleonSplits = {
    "<sentinel:[0-9]+>",       "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
    R"([\t\n]|    |  )",       kDigitSplit,
    R"([\p{P}!-/:-@\[-`{-~])", kGpt2Split};

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
    PretokenizerPattern{"granite-embed-multi-97m", &kGpt4oSplits, WholePieces::taken},
    PretokenizerPattern{"deepseek-llm", &kDeepseekLlmSplits},
    PretokenizerPattern{"spark2_5", &kSpark25Splits},
    PretokenizerPattern{"youtu", &kYoutuSplits, WholePieces::taken},
    PretokenizerPattern{"jais-2", &kJais2Splits},
    PretokenizerPattern{"exaone-moe", &kExaoneMoeSplits},
    PretokenizerPattern{"chameleon", &kChameleonSplits},
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
