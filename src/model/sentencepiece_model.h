// tokenizer.model, SentencePiece's own file -> the tokenizer.json that says the same.
//
// Use     read_sentencepiece for what the file says; tokenizer_json_of for a directory without
//         tokenizer.json, whose tokenizer_config.json may change the space and BOS before a text.
// Cost    a copy of the pieces and, for BPE, the merges that lead to each.
// Errors  a field that reaches past its end, a piece that is no text, is there twice or is too
//         long: ErrorKind::file with the byte or the piece. A model type, a table of characters or
//         a removal of spaces that kvik has not: ErrorKind::unsupported naming it.
// Source  SentencePiece's sentencepiece_model.proto and the protobuf wire format; merges in the
//         order in which Transformers 5.24 makes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer.h"

namespace kvik {

struct SentencePiece {
    std::string text;
    float score = 0;
    TokenType type = TokenType::normal;
};

struct SentencePieceModel {
    enum class Type : uint8_t { unigram = 1, bpe = 2 };
    std::vector<SentencePiece> pieces;
    Type type = Type::unigram;
    bool byte_fallback = false;
    bool add_dummy_prefix = true;
    int32_t unk_id = 0;
    int32_t bos_id = 1;  // negative: there is none
    int32_t eos_id = 2;
};

// `file` is for messages.
Result<SentencePieceModel> read_sentencepiece(std::string_view bytes, const std::string& file);

Result<std::string> tokenizer_json_of(const SentencePieceModel& model,
                                      std::optional<std::string_view> tokenizer_config,
                                      const std::string& config_file);

// Whether a space goes before the text and after every control token, also before a space: what
// SentencePiece does, and Transformers where no class of a tokenizer is named. A tokenizer.json
// cannot say it.
Result<bool> has_space_around_control(const SentencePieceModel& model,
                                      std::optional<std::string_view> tokenizer_config,
                                      const std::string& config_file);

}  // namespace kvik
