// Tokenizer: text <-> token ids, as the model's own tokenizer does it.
//
// Owner   all of its tables; the spec may be dropped after make_tokenizer.
// Threads const from any thread.
// Cost    encode 50 to 200 ns a byte, O(n log n) in the length of one pre-token; decode is linear.
// Errors  a spec that lies (token id out of range, token twice, bad merge): ErrorKind::file with
//         the field and the index; a model or pattern that is not known: ErrorKind::unsupported.
// Invariant decode(encode(text)) is the text where the vocabulary has all bytes (of SentencePiece:
//         but for U+2581, which comes back as a space, and for a space that encode put before).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace kvik {

// GGUF's token types.
enum class TokenType : uint8_t {
    normal = 1,
    unknown = 2,
    control = 3,
    user_defined = 4,
    unused = 5,
    byte = 6
};

// What a file says about its tokenizer, in no file's own format.
struct TokenizerSpec {
    std::string model;  // "gpt2": byte-level BPE; "llama": SentencePiece-BPE
    std::string pre;    // pre-tokenizer pattern of byte-level BPE: "gpt2", "smollm", ...
    std::vector<std::string> tokens;  // id -> text in the file's spelling
    std::vector<TokenType> types;     // [n_tokens], or empty: all normal
    std::vector<float> scores;        // [n_tokens] for SentencePiece, else empty
    std::vector<std::string> merges;  // "left right", in rank order, for byte-level BPE
    std::optional<TokenId> bos, eos, eot, unk;
    bool add_bos = false;
    bool add_space_prefix = false;
};

// A range of bytes that came from outside: special tokens written in it stay text.
struct ByteRange {
    size_t begin = 0;
    size_t end = 0;
};

// Text with input marking: what a template wrote is trusted, what a user wrote is not.
struct MarkedText {
    std::string text;
    std::vector<ByteRange> untrusted;  // ascending, disjoint
};

// Of control tokens (and the unknown token). User-defined tokens belong to the ordinary text: they
// are found wherever they are written.
enum class Specials : uint8_t { as_text, recognised };

class Tokenizer {
  public:
    virtual ~Tokenizer() = default;

    virtual uint32_t n_tokens() const = 0;
    // Ids of text, without BOS. Specials::recognised turns `<|im_end|>` and its like into its id.
    virtual std::vector<TokenId> encode(std::string_view text, Specials specials) const = 0;
    // As recognised, but not inside the untrusted ranges. Splits (pre-tokens, merges) do not see
    // the ranges' borders: the ids equal encode(text, recognised) when no special stands in them.
    virtual std::vector<TokenId> encode(const MarkedText& text) const = 0;
    // The bytes of one token: a control token is its own name, a byte token is that byte. Ids from
    // outside are compared with n_tokens() first: an id past it breaks a law.
    virtual std::string_view piece(TokenId id) const = 0;
    virtual bool is_control(TokenId id) const = 0;  // or the unknown token: no part of an answer
    // The special of exactly this spelling, or else the token of exactly these bytes.
    virtual std::optional<TokenId> find(std::string_view special) const = 0;
    virtual std::optional<TokenId> bos() const = 0;
    virtual std::optional<TokenId> eos() const = 0;
    virtual std::optional<TokenId> eot() const = 0;
    virtual bool adds_bos() const = 0;
    // Whole text of ids, specials written out; invalid UTF-8 becomes U+FFFD.
    std::string decode(std::span<const TokenId> ids) const;
};

Result<std::unique_ptr<Tokenizer>> make_tokenizer(TokenizerSpec spec);

}  // namespace kvik
