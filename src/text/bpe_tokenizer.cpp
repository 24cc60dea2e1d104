#include "text/bpe_tokenizer.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "text/bpe_alphabet.h"
#include "text/bpe_merges.h"
#include "text/pretokenizer.h"
#include "text/tokenizer_merge.h"
#include "text/tokenizer_vocab.h"

namespace kvik {
namespace {

class BpeTokenizer final : public VocabTokenizer {
  public:
    BpeTokenizer(Vocab tokens, Pretokenizer pretokenizer, MergeTable merges, SpacePrefix prefix)
        : VocabTokenizer(std::move(tokens)),
          pretokenizer_(std::move(pretokenizer)),
          merges_(std::move(merges)),
          prefix_(prefix) {
        for (size_t byte = 0; byte < byte_ids_.size(); ++byte) {
            const char c = static_cast<char>(byte);
            byte_ids_[byte] = vocab().pieces.find({&c, 1}).value_or(kNoToken);
        }
    }

  protected:
    void encode_text(std::string_view text, Place place, std::vector<TokenId>& ids) const override {
        std::string prefixed;
        if (has_prefix(prefix_, place) && !text.starts_with(' ')) {
            prefixed.append(" ").append(text);
            text = prefixed;
        }
        std::vector<uint32_t> ends;
        pretokenizer_.split(text, ends);
        MergeScratch scratch;
        uint32_t begin = 0;
        for (uint32_t end : ends) {
            encode_piece(text.substr(begin, end - begin), scratch, ids);
            begin = end;
        }
    }

    bool splits_before_space(char) const override { return pretokenizer_.ends_before_spaces(); }

  private:
    void encode_piece(std::string_view piece, MergeScratch& scratch,
                      std::vector<TokenId>& ids) const {
        if (pretokenizer_.whole_pieces() == WholePieces::taken) {
            if (const std::optional<TokenId> id = vocab().pieces.find(piece)) {
                ids.push_back(*id);
                return;
            }
        }
        scratch.symbols.clear();
        for (uint32_t i = 0; i < piece.size(); ++i) {
            const TokenId id = byte_ids_[static_cast<uint8_t>(piece[i])];
            if (id != kNoToken) scratch.add(i, i + 1, id);
        }
        if (scratch.symbols.empty()) return;
        merge_pairs(scratch, [this](const MergeSymbol& left, const MergeSymbol& right) {
            return merges_.find(left.id, right.id);
        });
        for (uint32_t i = 0; i != kNoSymbol; i = scratch.symbols[i].next)
            ids.push_back(scratch.symbols[i].id);
    }

    Pretokenizer pretokenizer_;
    MergeTable merges_;
    SpacePrefix prefix_;
    std::array<TokenId, 256> byte_ids_{};
};

void add_pieces(const TokenizerSpec& spec, Vocab& vocab) {
    PieceTable& pieces = vocab.pieces;
    std::vector<TokenId> unspelled;  // merges lead to none of these where others have their bytes
    for (size_t i = 0; i < spec.tokens.size(); ++i) {
        const TokenType type = vocab.types[i];
        // Special tokens are written in the text as they are, all others in the byte alphabet.
        if (type == TokenType::control || type == TokenType::unknown ||
            type == TokenType::user_defined)
            pieces.pool() += spec.tokens[i];
        else if (!append_spelled_bytes(spec.tokens[i], pieces.pool()))
            unspelled.push_back(static_cast<TokenId>(i));
        pieces.close_piece();
    }
    auto next = unspelled.begin();
    for (size_t i = 0; i < spec.tokens.size(); ++i) {
        const TokenType type = vocab.types[i];
        if (next != unspelled.end() && *next == static_cast<TokenId>(i)) {
            ++next;
            continue;
        }
        if (type == TokenType::control || type == TokenType::unknown ||
            type == TokenType::user_defined || spec.tokens[i].empty())
            continue;
        (void)pieces.index(static_cast<TokenId>(i));  // of a token twice the lower id stands
    }
    for (const TokenId id : unspelled) (void)pieces.index(id);
    // A merge may make a user-defined token, unless an ordinary one has the same bytes.
    for (size_t i = 0; i < spec.tokens.size(); ++i)
        if (vocab.types[i] == TokenType::user_defined && !spec.tokens[i].empty())
            (void)pieces.index(static_cast<TokenId>(i));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> make_bpe_tokenizer(const TokenizerSpec& spec) {
    const std::vector<std::string_view> splits(spec.splits.begin(), spec.splits.end());
    const WholePieces whole = spec.ignore_merges ? WholePieces::taken : WholePieces::merged;
    KVIK_TRY(Pretokenizer pretokenizer,
             spec.pre.empty() ? Pretokenizer::of(splits, whole) : Pretokenizer::named(spec.pre));
    KVIK_TRY(Vocab vocab, Vocab::make(spec, SpaceMark::itself, SpaceMark::itself));
    add_pieces(spec, vocab);
    vocab.add_specials(spec);
    KVIK_TRY(MergeTable merges,
             MergeTable::make(spec.merges, vocab.pieces, Spelling::byte_alphabet));
    return std::make_unique<BpeTokenizer>(std::move(vocab), std::move(pretokenizer),
                                          std::move(merges), spec.space_prefix);
}

}  // namespace kvik
