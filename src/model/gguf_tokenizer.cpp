#include "model/gguf_tokenizer.h"

#include <fmt/format.h>

#include <cmath>

#include "text/bpe_alphabet.h"
#include "text/pretokenizer_patterns.h"
#include "text/utf8.h"

namespace kvik {
namespace {

constexpr uint64_t kMaxTokens = 1 << 21;
constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";
constexpr std::string_view kTypesKey = "tokenizer.ggml.token_type";
constexpr std::string_view kScoresKey = "tokenizer.ggml.scores";
constexpr std::string_view kMergesKey = "tokenizer.ggml.merges";
constexpr std::string_view kModelKey = "tokenizer.ggml.model";

tl::unexpected<Error> refuse(const GgufMetadata& metadata, std::string_view key,
                             std::string_view problem) {
    return tl::unexpected<Error>(
        metadata.error_about(key, fmt::format("{}: convert the model again", problem)));
}

Result<std::vector<std::string>> read_tokens(const GgufMetadata& metadata) {
    KVIK_TRY(const GgufStrings tokens, metadata.require_strings(kTokensKey));
    if (tokens.size() == 0 || tokens.size() > kMaxTokens)
        return refuse(
            metadata, kTokensKey,
            fmt::format("has {} tokens, the range is 1 .. {}", tokens.size(), kMaxTokens));
    std::vector<std::string> texts;
    texts.reserve(tokens.size());
    for (const std::string_view token : tokens) texts.emplace_back(token);
    return texts;
}

// A list that has something to say about every token.
Result<void> check_length(const GgufMetadata& metadata, std::string_view key, size_t n,
                          size_t n_tokens) {
    if (n == n_tokens) return {};
    return refuse(metadata, key,
                  fmt::format("has {} elements, {} has {}", n, kTokensKey, n_tokens));
}

Result<std::vector<TokenType>> read_types(const GgufMetadata& metadata, size_t n_tokens) {
    KVIK_TRY(const std::optional<std::vector<int32_t>> numbers, metadata.find_i32s(kTypesKey));
    std::vector<TokenType> types;
    if (!numbers) return types;
    KVIK_TRY_VOID(check_length(metadata, kTypesKey, numbers->size(), n_tokens));
    types.reserve(n_tokens);
    for (const int32_t number : *numbers) {
        if (number < static_cast<int32_t>(TokenType::normal) ||
            number > static_cast<int32_t>(TokenType::byte))
            return refuse(
                metadata, kTypesKey,
                fmt::format("has type {} for token {}, the range is 1 .. 6", number, types.size()));
        types.push_back(static_cast<TokenType>(number));
    }
    return types;
}

Result<std::vector<double>> read_scores(const GgufMetadata& metadata, size_t n_tokens) {
    KVIK_TRY(std::optional<std::vector<double>> scores, metadata.find_reals(kScoresKey));
    if (!scores) return std::vector<double>();
    KVIK_TRY_VOID(check_length(metadata, kScoresKey, scores->size(), n_tokens));
    for (size_t id = 0; id < n_tokens; ++id)
        if (!std::isfinite((*scores)[id]))
            return refuse(
                metadata, kScoresKey,
                fmt::format("has {} for token {}, a score is a finite number", (*scores)[id], id));
    return *std::move(scores);
}

std::string id_key(std::string_view name) {
    return fmt::format("tokenizer.ggml.{}_token_id", name);
}

Result<std::optional<TokenId>> read_id(const GgufMetadata& metadata, std::string_view name,
                                       size_t n_tokens) {
    KVIK_TRY(const std::optional<uint64_t> id,
             metadata.find_integer(id_key(name), {0, n_tokens - 1}));
    if (!id) return std::nullopt;
    return static_cast<TokenId>(*id);
}

// Merges make every token of byte-level BPE that is longer than a byte: without them a text would
// fall into bytes, which the model never saw.
Result<void> check_merges(const GgufMetadata& metadata, const TokenizerSpec& spec) {
    if (!spec.merges.empty()) return {};
    for (size_t id = 0; id < spec.tokens.size(); ++id) {
        if (!spec.types.empty() && spec.types[id] != TokenType::normal) continue;
        std::string bytes;
        append_spelled_bytes(spec.tokens[id], bytes);
        if (bytes.size() > 1)
            return tl::unexpected<Error>(metadata.error_about(
                kMergesKey,
                fmt::format("is {}, so no text becomes token {} '{}': convert the model again; "
                            "token ids work without",
                            metadata.find(kMergesKey) == nullptr ? "missing" : "empty", id,
                            shown(spec.tokens[id])),
                ErrorKind::unsupported));
    }
    return {};
}

// Patterns of some models have BOS before a text even where the file does not say so.
bool has_bos_habit(std::string_view pre) {
    const PretokenizerPattern* pattern = find_pretokenizer_pattern(pre);
    return pattern != nullptr && pattern->bos == BosHabit::first;
}

// The Qwen2 tokenizers compose characters first; GGUF has no key for it, and llama.cpp does not. Of
// Qwen2's model type, which the models of deepseek-r1-qwen have, Transformers 5.24 makes a
// Qwen2Tokenizer with NFC whatever class and normaliser the files name. Those of qwen35 do not:
// tests/oracles/vocabularies.py.
bool composes_characters(std::string_view pre) {
    return pre == "qwen2" || pre == "deepseek-r1-qwen";
}

}  // namespace

Result<std::optional<TokenizerSpec>> tokenizer_from_gguf(const GgufMetadata& metadata) {
    KVIK_TRY(const std::optional<std::string_view> model, metadata.find_string(kModelKey));
    if (!model) return std::nullopt;
    const bool is_sentence_piece = *model == "llama";
    if (!is_sentence_piece && *model != "gpt2")
        return tl::unexpected<Error>(metadata.error_about(
            kModelKey,
            fmt::format("is '{}': kvik tokenizes text with gpt2 (byte-level BPE) and llama "
                        "(SentencePiece): use another model, or token ids",
                        shown(*model)),
            ErrorKind::unsupported));
    TokenizerSpec spec;
    spec.source = metadata.file();
    spec.model = *model;
    KVIK_TRY(const std::optional<std::string_view> pre, metadata.find_string("tokenizer.ggml.pre"));
    spec.pre = pre.value_or("default");
    if (composes_characters(spec.pre)) spec.steps.push_back({NormalizerStep::Kind::nfc});
    KVIK_TRY(spec.tokens, read_tokens(metadata));
    const size_t n_tokens = spec.tokens.size();
    KVIK_TRY(spec.types, read_types(metadata, n_tokens));
    // Byte-level BPE files may carry scores too, which nothing reads.
    if (is_sentence_piece) {
        KVIK_TRY(spec.scores, read_scores(metadata, n_tokens));
    }
    KVIK_TRY(const std::optional<GgufStrings> merges, metadata.find_strings(kMergesKey));
    if (merges) {
        spec.merges.reserve(merges->size());
        for (const std::string_view merge : *merges) spec.merges.emplace_back(merge);
    }
    KVIK_TRY(spec.bos, read_id(metadata, "bos", n_tokens));
    KVIK_TRY(spec.eos, read_id(metadata, "eos", n_tokens));
    KVIK_TRY(spec.eot, read_id(metadata, "eot", n_tokens));
    KVIK_TRY(spec.unk, read_id(metadata, "unknown", n_tokens));
    // SentencePiece models begin with BOS and a space unless the file says no; BPE ones do not.
    KVIK_TRY(const std::optional<bool> add_bos, metadata.find_bool("tokenizer.ggml.add_bos_token"));
    spec.add_bos = add_bos.value_or(is_sentence_piece || has_bos_habit(spec.pre));
    KVIK_TRY(const std::optional<bool> add_space,
             metadata.find_bool("tokenizer.ggml.add_space_prefix"));
    if (is_sentence_piece && add_space.value_or(true))
        spec.space_prefix = SpacePrefix::around_control;
    if (!is_sentence_piece) KVIK_TRY_VOID(check_merges(metadata, spec));
    return spec;
}

Result<std::vector<TokenId>> end_tokens_from_gguf(const GgufMetadata& metadata) {
    std::vector<TokenId> ends;
    for (const std::string_view name : {"eos", "eot", "eom"}) {
        KVIK_TRY(const auto id, metadata.find_integer(id_key(name), {0, UINT32_MAX}));
        if (id && *id <= INT32_MAX) ends.push_back(static_cast<TokenId>(*id));
    }
    return ends;
}

// tokenizer.chat_template, and tokenizer.chat_template.NAME; the list of the names,
// tokenizer.chat_templates, says nothing more.
Result<std::vector<NamedTemplate>> chat_templates_from_gguf(const GgufMetadata& metadata) {
    constexpr std::string_view kKey = "tokenizer.chat_template";
    std::vector<NamedTemplate> templates;
    for (const GgufValue& value : metadata.values()) {
        const bool is_default = value.key == kKey;
        const bool is_named = value.key.size() > kKey.size() + 1 && value.key.starts_with(kKey) &&
                              value.key[kKey.size()] == '.';
        if (!is_default && !is_named) continue;
        if (templates.size() == kMostTemplates)
            return tl::unexpected<Error>(metadata.error_about(
                value.key, fmt::format("is one chat template more than {}", kMostTemplates)));
        KVIK_TRY(const auto source, metadata.find_string(value.key));
        add_template(templates,
                     is_default ? "default" : std::string(value.key.substr(kKey.size() + 1)),
                     std::string(source.value_or("")));
    }
    return templates;
}

}  // namespace kvik
