#include "text/unigram_tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "text/spm_pieces.h"
#include "text/spm_spaces.h"
#include "text/tokenizer_vocab.h"
#include "text/unigram_trie.h"
#include "text/utf8.h"

namespace kvik {
namespace {

constexpr double kUnknownPenalty = 10;

// The best way to a place in the text: the piece that ends there.
struct PathEnd {
    double sum = 0;
    uint32_t begin = UINT32_MAX;  // nobody ends there
    TokenId id = kNoToken;        // of the piece; none: a character without one
};

struct UnigramTables {
    PieceTrie trie;
    std::vector<double> scores;
    double unknown_score = 0;
    SpmFallback fallback;
    WordBorders words;
    bool splits_at_spaces = false;  // a word is a text of its own, not a part of a longer sum
};

class UnigramTokenizer final : public VocabTokenizer {
  public:
    UnigramTokenizer(Vocab tokens, UnigramTables tables, SpacePrefix prefix)
        : VocabTokenizer(std::move(tokens)), tables_(std::move(tables)), prefix_(prefix) {}

  protected:
    void encode_text(std::string_view text, Place place, std::vector<TokenId>& ids) const override {
        KVIK_CHECK(text.size() < UINT32_MAX - 1, "a text to tokenize is under 4 GiB");
        const std::string plain = with_plain_spaces(text, prefix_, place);
        std::vector<PathEnd> ends;
        size_t n_before = ids.size();
        double sum = 0;
        for (size_t begin = 0; begin < plain.size();) {
            const size_t end = tables_.words.end_of_word(plain, begin);
            const std::string_view word = std::string_view(plain).substr(begin, end - begin);
            sum = find_path(word, sum, ends);
            append_path(word, ends, n_before, ids);
            if (tables_.splits_at_spaces) sum = 0, n_before = ids.size();
            begin = end;
        }
    }

    // Else a word's sum goes on from the one before, and so does how it is rounded.
    bool splits_before_space(char) const override { return tables_.splits_at_spaces; }

  private:
    double find_path(std::string_view word, double sum, std::vector<PathEnd>& ends) const {
        ends.assign(word.size() + 1, PathEnd{});
        ends[0].sum = sum;
        for (size_t at = 0; at < word.size();) {
            const double here = ends[at].sum;
            const uint32_t begin = static_cast<uint32_t>(at);
            const size_t n_character = utf8_unit(word.substr(at)).n_bytes;
            bool has_character = false;
            const auto offer = [&](size_t n_bytes, TokenId id, double score) {
                PathEnd& end = ends[at + n_bytes];
                if (end.begin == UINT32_MAX || here + score > end.sum)
                    end = {here + score, begin, id};
            };
            tables_.trie.for_each_prefix(word.substr(at), [&](size_t n_bytes, TokenId id) {
                offer(n_bytes, id, tables_.scores[static_cast<size_t>(id)]);
                has_character = has_character || n_bytes == n_character;
            });
            if (!has_character) offer(n_character, kNoToken, tables_.unknown_score);
            at += n_character;
        }
        return ends.back().sum;
    }

    void append_path(std::string_view word, const std::vector<PathEnd>& ends, size_t n_before,
                     std::vector<TokenId>& ids) const {
        std::vector<uint32_t> path;  // where its pieces end, the last first
        for (uint32_t end = static_cast<uint32_t>(word.size()); end > 0; end = ends[end].begin)
            path.push_back(end);
        for (auto end = path.rbegin(); end != path.rend(); ++end) {
            const PathEnd& piece = ends[*end];
            if (piece.id != kNoToken)
                ids.push_back(piece.id);
            else
                tables_.fallback.append(word.substr(piece.begin, *end - piece.begin), n_before,
                                        ids);
        }
    }

    UnigramTables tables_;
    SpacePrefix prefix_;
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> make_unigram_tokenizer(const TokenizerSpec& spec) {
    if (spec.scores.empty())
        return fail(ErrorKind::file,
                    "tokenizer: scores is empty: a Unigram model needs one for each token");
    if (!spec.unk)
        return fail(ErrorKind::file, "tokenizer: unk is missing: a Unigram model needs it");
    KVIK_TRY(Vocab vocab, Vocab::make(spec, SpaceMark::space, spec.special_mark));
    KVIK_TRY(SpmFallback fallback, add_spm_pieces(spec, SpmIndex::all_but_control, vocab));
    vocab.add_specials(spec);
    std::vector<PieceTrie::Piece> pieces;
    WordBorders words;
    for (size_t i = 0; i < spec.tokens.size(); ++i) {
        const TokenId id = static_cast<TokenId>(i);
        const std::string_view bytes = vocab.pieces.piece(id);
        if (vocab.pieces.find(bytes) != id) continue;
        pieces.push_back({bytes, id});
        if (!spec.splits_at_spaces) words.add_token(bytes);
    }
    const double worst = *std::min_element(spec.scores.begin(), spec.scores.end());
    return std::make_unique<UnigramTokenizer>(
        std::move(vocab),
        UnigramTables{PieceTrie(std::move(pieces)), spec.scores, worst - kUnknownPenalty, fallback,
                      words, spec.splits_at_spaces},
        spec.space_prefix);
}

}  // namespace kvik
