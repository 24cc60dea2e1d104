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

// A change of the text before it is tokenized.
struct NormalizerStep {
    enum class Kind : uint8_t { nfc, replace, prepend };
    Kind kind = Kind::nfc;
    std::string from = {};  // of replace: not empty
    std::string to = {};    // of replace and prepend
};

// How a control or user-defined token is found in the text.
struct FindRule {
    bool takes_space_before = false;  // white space beside it is part of it
    bool takes_space_after = false;
    bool normalized = false;  // in the normalised text; never a control token
};

// Where a space comes to stand that the text does not have. All but `around_control` leave text
// alone that begins with one already.
enum class SpacePrefix : uint8_t {
    never,
    around_control,  // at the start and after a control token
    start,           // at the start alone
    always,          // at the start and after every token that was found as it is written
};

// Whether U+2581 stands for a space or for itself.
enum class SpaceMark : uint8_t { itself, space };

// What a file says about its tokenizer, in no file's own format.
struct TokenizerSpec {
    std::string source;  // the file, for messages
    // "gpt2": byte-level BPE. "llama": SentencePiece-BPE, by scores or, where there are none, by
    // merges. "unigram": the likeliest pieces by their scores.
    std::string model;
    // Of byte-level BPE: a pattern of the table by name ("gpt2", "smollm", ...), or else the
    // regular expressions themselves, one split after the other.
    std::string pre;
    std::vector<std::string> splits;
    bool ignore_merges = false;         // with splits: a piece that is a token is taken as it is
    std::vector<std::string> tokens;    // id -> text in the file's spelling
    std::vector<TokenType> types;       // [n_tokens], or empty: all normal
    std::vector<FindRule> rules;        // [n_tokens], or empty: found as written
    std::vector<double> scores;         // [n_tokens], or empty
    std::vector<std::string> merges;    // "left right", in rank order
    std::vector<NormalizerStep> steps;  // of normalisation, in order
    std::optional<TokenId> bos, eos, eot, unk;
    std::vector<TokenId> ends;  // what else ends an answer
    bool add_bos = false;
    SpacePrefix space_prefix = SpacePrefix::never;
    // Of SentencePiece: whether U+2581 in a control or user-defined token finds a space.
    SpaceMark special_mark = SpaceMark::space;
    bool splits_at_spaces = false;  // of SentencePiece: no token crosses into a space
    bool fuses_unknown = false;     // one unknown token for neighbours without a token
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
    // Whether a text falls into two at byte `at`, whatever stands further from there than
    // split_reach() bytes: then encode(text) is encode of what stands before, and after these ids
    // encode_from(text, at). A no may also mean that it is not known. Every text splits at its ends.
    virtual bool splits_at(const MarkedText& text, size_t at) const = 0;
    virtual size_t split_reach() const = 0;
    virtual std::vector<TokenId> encode_from(const MarkedText& text, size_t at) const = 0;
    // The bytes of one token: a control token is its own name, a byte token is that byte. An id that
    // no token has is empty: a model may have more rows of its embedding than tokens.
    virtual std::string_view piece(TokenId id) const = 0;
    // No part of an answer: a control token, the unknown token, an id that no token has.
    virtual bool is_control(TokenId id) const = 0;
    // The special of exactly this spelling, or else the token of exactly these bytes.
    virtual std::optional<TokenId> find(std::string_view special) const = 0;
    virtual std::optional<TokenId> bos() const = 0;
    virtual std::optional<TokenId> eos() const = 0;
    virtual std::optional<TokenId> eot() const = 0;
    virtual std::span<const TokenId> ends() const { return {}; }  // beside eos and eot
    virtual bool adds_bos() const = 0;
    // Whole text of ids, specials written out; invalid UTF-8 becomes U+FFFD.
    std::string decode(std::span<const TokenId> ids) const;
};

Result<std::unique_ptr<Tokenizer>> make_tokenizer(TokenizerSpec spec);

}  // namespace kvik
