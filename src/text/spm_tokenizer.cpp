#include "text/spm_tokenizer.h"

#include <bit>
#include <utility>

#include "base/check.h"
#include "text/bpe_merges.h"
#include "text/spm_pieces.h"
#include "text/spm_spaces.h"
#include "text/tokenizer_merge.h"
#include "text/tokenizer_vocab.h"
#include "text/utf8.h"

namespace kvik {
namespace {

// Ascending for falling scores, and never kNoPair: the better score has the lower rank.
uint32_t rank_of(float score) {
    const uint32_t bits = std::bit_cast<uint32_t>(score + 0.0f);  // one zero, not two
    return (bits >> 31) != 0 ? bits : ~(bits | 0x80000000u);
}

struct SpmTables {
    std::vector<uint32_t> ranks;       // [n_tokens] rank_of(score), or empty:
    std::optional<MergeTable> merges;  // then these say what merges
    SpmFallback fallback;
    WordBorders words;
    bool splits_at_spaces = false;
};

class SpmTokenizer final : public VocabTokenizer {
  public:
    SpmTokenizer(Vocab tokens, SpmTables tables, SpacePrefix prefix)
        : VocabTokenizer(std::move(tokens)), tables_(std::move(tables)), prefix_(prefix) {}

  protected:
    void encode_text(std::string_view text, Place place, std::vector<TokenId>& ids) const override {
        KVIK_CHECK(text.size() < UINT32_MAX - 1, "a text to tokenize is under 4 GiB");
        const std::string plain = with_plain_spaces(text, prefix_, place);
        MergeScratch scratch;
        size_t n_before = ids.size();
        for (size_t begin = 0; begin < plain.size();) {
            const size_t end = tables_.words.end_of_word(plain, begin);
            encode_word(std::string_view(plain).substr(begin, end - begin), scratch, n_before, ids);
            if (tables_.splits_at_spaces) n_before = ids.size();
            begin = end;
        }
    }

    // An unknown token may be one with that of the word before.
    bool splits_before_space(char before) const override {
        const bool fuses = tables_.fallback.fuses && !tables_.splits_at_spaces;
        return !fuses && tables_.words.begins_after(before);
    }

  private:
    void encode_word(std::string_view word, MergeScratch& scratch, size_t n_before,
                     std::vector<TokenId>& ids) const {
        const PieceTable& pieces = vocab().pieces;
        scratch.symbols.clear();
        for (uint32_t at = 0; at < word.size();) {
            const uint32_t n_bytes = utf8_unit(word.substr(at)).n_bytes;
            const std::optional<TokenId> id = pieces.find(word.substr(at, n_bytes));
            if (id || !tables_.fallback.is_nothing())
                scratch.add(at, at + n_bytes, id.value_or(kNoToken));
            at += n_bytes;
        }
        if (scratch.symbols.empty()) return;
        merge_pairs(scratch, [&](const MergeSymbol& left, const MergeSymbol& right) {
            if (tables_.merges) return tables_.merges->find(left.id, right.id);
            const std::optional<TokenId> id =
                pieces.find(word.substr(left.begin, right.end - left.begin));
            return id ? MergePair{tables_.ranks[static_cast<size_t>(*id)], *id} : MergePair{};
        });
        for (uint32_t i = 0; i != kNoSymbol; i = scratch.symbols[i].next) {
            const MergeSymbol& symbol = scratch.symbols[i];
            if (symbol.id != kNoToken)
                ids.push_back(symbol.id);
            else
                tables_.fallback.append(word.substr(symbol.begin, symbol.end - symbol.begin),
                                        n_before, ids);
        }
    }

    SpmTables tables_;
    SpacePrefix prefix_;
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> make_spm_tokenizer(const TokenizerSpec& spec) {
    if (spec.scores.empty() && spec.merges.empty())
        return fail(ErrorKind::file,
                    "tokenizer: scores is empty: a SentencePiece model needs one for each token, "
                    "or merges");
    KVIK_TRY(Vocab vocab, Vocab::make(spec, SpaceMark::space, spec.special_mark));
    SpmTables tables;
    tables.splits_at_spaces = spec.splits_at_spaces;
    tables.ranks.reserve(spec.scores.size());
    for (double score : spec.scores) tables.ranks.push_back(rank_of(static_cast<float>(score)));
    const bool by_merges = spec.scores.empty();
    KVIK_TRY(tables.fallback,
             add_spm_pieces(spec, by_merges ? SpmIndex::all_but_control : SpmIndex::normal, vocab));
    vocab.add_specials(spec);
    for (size_t i = 0; i < spec.tokens.size() && !spec.splits_at_spaces; ++i)
        if (vocab.types[i] == TokenType::normal ||
            (by_merges && vocab.types[i] == TokenType::user_defined))
            tables.words.add_token(vocab.pieces.piece(static_cast<TokenId>(i)));
    if (by_merges) {
        KVIK_TRY(tables.merges, MergeTable::make(spec.merges, vocab.pieces, Spelling::space_mark));
    }
    return std::make_unique<SpmTokenizer>(std::move(vocab), std::move(tables), spec.space_prefix);
}

}  // namespace kvik
