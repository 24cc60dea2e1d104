#include "text/spm_tokenizer.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <bitset>
#include <charconv>
#include <utility>

#include "base/check.h"
#include "text/tokenizer_merge.h"
#include "text/tokenizer_vocab.h"
#include "text/utf8.h"

namespace kvik {
namespace {

// Appends text with every U+2581 as a space.
void append_unmarked(std::string_view text, std::string& out) {
    for (size_t at = 0; at < text.size();) {
        const size_t mark = text.find(kSpaceMark, at);
        out += text.substr(at, mark - at);
        if (mark == std::string_view::npos) return;
        out += ' ';
        at = mark + kSpaceMark.size();
    }
}

// Ascending for falling scores, and never kNoPair: the better score has the lower rank.
uint32_t rank_of(float score) {
    const uint32_t bits = std::bit_cast<uint32_t>(score + 0.0f);  // one zero, not two
    return (bits >> 31) != 0 ? bits : ~(bits | 0x80000000u);
}

// "<0x41>" -> 0x41.
std::optional<uint8_t> spelled_hex(std::string_view spelling) {
    uint8_t byte = 0;
    if (spelling.size() != 6 || !spelling.starts_with("<0x") || spelling[5] != '>')
        return std::nullopt;
    const auto [end, error] = std::from_chars(&spelling[3], &spelling[5], byte, 16);
    if (error != std::errc{} || end != &spelling[5]) return std::nullopt;
    return byte;
}

struct SpmTables {
    std::vector<uint32_t> ranks;  // [n_tokens] rank_of(score)
    std::array<TokenId, 256> byte_ids{};
    TokenId unk = kNoToken;
    // Bytes that some token has right before a space: nowhere else can a token cross into one.
    std::bitset<256> joins_space;
};

class SpmTokenizer final : public VocabTokenizer {
  public:
    SpmTokenizer(Vocab tokens, SpmTables tables, bool add_space_prefix)
        : VocabTokenizer(std::move(tokens)),
          tables_(std::move(tables)),
          add_space_prefix_(add_space_prefix) {}

  protected:
    void encode_text(std::string_view text, Place place, std::vector<TokenId>& ids) const override {
        KVIK_CHECK(text.size() < UINT32_MAX - 1, "a text to tokenize is under 4 GiB");
        std::string plain;
        plain.reserve(text.size() + 1);
        if (add_space_prefix_ && place != Place::after_user_defined) plain += ' ';
        append_unmarked(text, plain);
        MergeScratch scratch;
        for (size_t begin = 0; begin < plain.size();) {
            size_t end = plain.find(' ', begin + 1);
            while (end != std::string::npos && joins(plain[end - 1]))
                end = plain.find(' ', end + 1);
            if (end == std::string::npos) end = plain.size();
            encode_word(std::string_view(plain).substr(begin, end - begin), scratch, ids);
            begin = end;
        }
    }

  private:
    bool joins(char c) const { return tables_.joins_space[static_cast<uint8_t>(c)]; }

    void encode_word(std::string_view word, MergeScratch& scratch,
                     std::vector<TokenId>& ids) const {
        const PieceTable& pieces = vocab().pieces;
        scratch.symbols.clear();
        for (uint32_t at = 0; at < word.size();) {
            const uint32_t n_bytes = utf8_unit(word.substr(at)).n_bytes;
            const std::optional<TokenId> id = pieces.find(word.substr(at, n_bytes));
            scratch.add(at, at + n_bytes, id.value_or(kNoToken));
            at += n_bytes;
        }
        merge_pairs(scratch, [&](const MergeSymbol& left, const MergeSymbol& right) {
            const std::optional<TokenId> id =
                pieces.find(word.substr(left.begin, right.end - left.begin));
            return id ? MergePair{tables_.ranks[static_cast<size_t>(*id)], *id} : MergePair{};
        });
        for (uint32_t i = 0; i != kNoSymbol; i = scratch.symbols[i].next) {
            const MergeSymbol& symbol = scratch.symbols[i];
            if (symbol.id != kNoToken)
                ids.push_back(symbol.id);
            else
                fall_back(word.substr(symbol.begin, symbol.end - symbol.begin), ids);
        }
    }

    void fall_back(std::string_view bytes, std::vector<TokenId>& ids) const {
        if (tables_.byte_ids[0] == kNoToken) {
            ids.push_back(tables_.unk);
            return;
        }
        for (char c : bytes) ids.push_back(tables_.byte_ids[static_cast<uint8_t>(c)]);
    }

    SpmTables tables_;
    bool add_space_prefix_;
};

Result<void> add_byte_token(const TokenizerSpec& spec, TokenId id, Vocab& vocab,
                            SpmTables& tables) {
    const std::string& spelling = spec.tokens[static_cast<size_t>(id)];
    const std::optional<uint8_t> byte = spelled_hex(spelling);
    if (!byte)
        return fail(ErrorKind::file, fmt::format("tokenizer: tokens[{}] is '{}': a byte token is "
                                                 "spelled <0x00> to <0xFF>",
                                                 id, spelling));
    TokenId& slot = tables.byte_ids[*byte];
    if (slot != kNoToken) return tl::unexpected<Error>(duplicate_token(spec, id, slot));
    slot = id;
    vocab.pieces.pool() += static_cast<char>(*byte);
    return {};
}

Result<void> add_pieces(const TokenizerSpec& spec, Vocab& vocab, SpmTables& tables) {
    PieceTable& pieces = vocab.pieces;
    for (size_t i = 0; i < spec.tokens.size(); ++i) {
        const TokenType type = vocab.types[i];
        if (type == TokenType::byte)
            KVIK_TRY_VOID(add_byte_token(spec, static_cast<TokenId>(i), vocab, tables));
        else if (type == TokenType::control || type == TokenType::unknown)
            pieces.pool() += spec.tokens[i];
        else
            append_unmarked(spec.tokens[i], pieces.pool());
        const std::string_view piece = pieces.close_piece();
        for (size_t at = 1; at < piece.size() && type == TokenType::normal; ++at)
            if (piece[at] == ' ') tables.joins_space.set(static_cast<uint8_t>(piece[at - 1]));
    }
    for (size_t i = 0; i < spec.tokens.size(); ++i) {
        if (vocab.types[i] != TokenType::normal || spec.tokens[i].empty()) continue;
        const TokenId id = static_cast<TokenId>(i);
        if (const std::optional<TokenId> other = pieces.index(id))
            return tl::unexpected<Error>(duplicate_token(spec, id, *other));
    }
    return {};
}

// All 256 byte tokens, or none and an unknown token: every text has ids.
Result<void> check_fallback(const SpmTables& tables) {
    size_t n_missing = 0;
    size_t missing = 0;
    for (size_t byte = 0; byte < 256; ++byte) {
        if (tables.byte_ids[byte] != kNoToken) continue;
        ++n_missing;
        missing = byte;
    }
    if (n_missing == 0 || (n_missing == 256 && tables.unk != kNoToken)) return {};
    return fail(ErrorKind::file,
                fmt::format("tokenizer: tokens has no <0x{:02X}>: all 256 byte tokens are needed, "
                            "or none of them and an unknown token",
                            missing));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> make_spm_tokenizer(const TokenizerSpec& spec) {
    if (spec.scores.empty())
        return fail(ErrorKind::file,
                    "tokenizer: scores is empty: a SentencePiece model needs one "
                    "for each token");
    Vocab vocab(spec, SpaceMark::space);
    SpmTables tables;
    tables.byte_ids.fill(kNoToken);
    tables.unk = spec.unk.value_or(kNoToken);
    tables.ranks.reserve(spec.scores.size());
    for (float score : spec.scores) tables.ranks.push_back(rank_of(score));
    KVIK_TRY_VOID(add_pieces(spec, vocab, tables));
    KVIK_TRY_VOID(vocab.add_specials(spec));
    KVIK_TRY_VOID(check_fallback(tables));
    return std::make_unique<SpmTokenizer>(std::move(vocab), std::move(tables),
                                          spec.add_space_prefix);
}

}  // namespace kvik
