// Vocab and VocabTokenizer: what the two kinds of tokenizer have in common.
//
// Shape     a text is cut at the tokens that are found as they are written, each stretch between is
//           normalised and cut at those found in normalised text, what is left goes to the kind's
//           own encode_text.
// Owner     all tables.   Threads  const from any thread.
// Errors    check_spec names the field, the index and the limit that a spec breaks.
// Invariant cutting is all that sees the borders of untrusted ranges, and only to refuse a control
//           token that touches one: splits and merges run over the whole stretch.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer.h"
#include "text/tokenizer_normalizer.h"
#include "text/tokenizer_pieces.h"
#include "text/tokenizer_specials.h"

namespace kvik {

inline constexpr size_t kMaxTokens = size_t{1} << 21;
inline constexpr size_t kMaxTokenBytes = 4096;
inline constexpr size_t kMaxVocabBytes = size_t{1} << 30;

Result<void> check_spec(const TokenizerSpec& spec);

struct Vocab {
    PieceTable pieces;
    std::vector<TokenType> types;
    std::vector<FindRule> rules;  // [n_tokens], or empty
    Normalizer normalizer;
    SpecialTrie specials;             // found as they are written
    SpecialTrie normalized_specials;  // found in normalised text: user-defined tokens
    std::optional<TokenId> bos, eos, eot;
    std::vector<TokenId> ends;
    bool add_bos = false;

    // Takes types and ids of note from a checked spec; pieces and specials are still empty. `mark`
    // is what U+2581 is in the kind's pieces, `special_mark` in tokens found as written.
    static Result<Vocab> make(const TokenizerSpec& spec, SpaceMark mark, SpaceMark special_mark);
    // After the pieces are there and indexed: control and user-defined tokens become specials; of
    // one that is there twice the lower id stands.
    void add_specials(const TokenizerSpec& spec);
    FindRule rule(TokenId id) const {
        return rules.empty() ? FindRule{} : rules[static_cast<size_t>(id)];
    }

  private:
    Vocab(const TokenizerSpec& spec, Normalizer normalizer, SpaceMark mark, SpaceMark special_mark);
};

// Where a stretch of ordinary text stands.
enum class Place : uint8_t { start, after_control, after_user_defined };

// Whether a space comes before a stretch there (SpacePrefix says: unless one is there already).
inline bool has_prefix(SpacePrefix prefix, Place place) {
    switch (prefix) {
        case SpacePrefix::never:
            return false;
        case SpacePrefix::around_control:
            return place != Place::after_user_defined;
        case SpacePrefix::start:
            return place == Place::start;
        case SpacePrefix::always:
            return true;
    }
    return false;
}

class VocabTokenizer : public Tokenizer {
  public:
    uint32_t n_tokens() const override;
    std::vector<TokenId> encode(std::string_view text, Specials specials) const override;
    std::vector<TokenId> encode(const MarkedText& text) const override;
    // tokenizer_seams.cpp
    bool splits_at(const MarkedText& text, size_t at) const override;
    size_t split_reach() const override;
    std::vector<TokenId> encode_from(const MarkedText& text, size_t at) const override;
    std::string_view piece(TokenId id) const override;
    bool is_control(TokenId id) const override;
    std::optional<TokenId> find(std::string_view special) const override;
    std::optional<TokenId> bos() const override;
    std::optional<TokenId> eos() const override;
    std::optional<TokenId> eot() const override;
    std::span<const TokenId> ends() const override;
    bool adds_bos() const override;

  protected:
    explicit VocabTokenizer(Vocab vocab);
    // Appends the ids of a normalised stretch without specials, not empty.
    virtual void encode_text(std::string_view text, Place place,
                             std::vector<TokenId>& ids) const = 0;
    // Whether a stretch falls into two at a space after `before`, a printable ASCII character: what
    // stands before has the ids that it would have alone, and so has the rest, where no space is
    // put before a stretch that begins with one.
    virtual bool splits_before_space(char before) const = 0;
    const Vocab& vocab() const { return vocab_; }

  private:
    bool has_token(TokenId id) const;
    struct From {
        size_t byte = 0;
        Place place = Place::start;
    };
    std::vector<TokenId> encode_parts(std::string_view text, Specials specials,
                                      std::span<const ByteRange> untrusted, From from) const;
    void encode_stretch(std::string_view text, Place place, std::vector<TokenId>& ids) const;
    Vocab vocab_;
    bool takes_spaces_ = false;  // some token found as it is written takes those beside it too
};

}  // namespace kvik
