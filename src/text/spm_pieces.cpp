#include "text/spm_pieces.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "text/spm_spaces.h"
#include "text/utf8.h"

namespace kvik {
namespace {

// "<0x41>" -> 0x41.
std::optional<uint8_t> spelled_hex(std::string_view spelling) {
    uint8_t byte = 0;
    if (spelling.size() != 6 || !spelling.starts_with("<0x") || spelling[5] != '>')
        return std::nullopt;
    const auto [end, error] = std::from_chars(&spelling[3], &spelling[5], byte, 16);
    if (error != std::errc{} || end != &spelling[5]) return std::nullopt;
    return byte;
}

Result<void> add_byte_token(const TokenizerSpec& spec, TokenId id, Vocab& vocab,
                            SpmFallback& fallback) {
    const std::string& spelling = spec.tokens[static_cast<size_t>(id)];
    const std::optional<uint8_t> byte = spelled_hex(spelling);
    if (!byte)
        return fail(ErrorKind::file, fmt::format("tokenizer: tokens[{}] is '{}': a byte token is "
                                                 "spelled <0x00> to <0xFF>",
                                                 id, shown(spelling)));
    TokenId& slot = fallback.byte_ids[*byte];
    if (slot == kNoToken) slot = id;
    vocab.pieces.pool() += static_cast<char>(*byte);
    return {};
}

// All 256 byte tokens, or none of them and an unknown token: every text has ids. Merges may do
// without either: what has no token is then left out.
Result<void> check_fallback(const TokenizerSpec& spec, const SpmFallback& fallback) {
    size_t n_missing = 0;
    size_t missing = 0;
    for (size_t byte = 0; byte < 256; ++byte) {
        if (fallback.byte_ids[byte] != kNoToken) continue;
        ++n_missing;
        missing = byte;
    }
    const bool has_other = fallback.unk != kNoToken || spec.scores.empty();
    if (n_missing == 0 || (n_missing == 256 && has_other)) return {};
    return fail(ErrorKind::file,
                fmt::format("tokenizer: tokens has no <0x{:02X}>: all 256 byte tokens are needed, "
                            "or none of them and an unknown token",
                            missing));
}

// Of a token twice the lower id stands.
void index(const TokenizerSpec& spec, TokenType type, Vocab& vocab) {
    for (size_t i = 0; i < spec.tokens.size(); ++i)
        if (vocab.types[i] == type && !spec.tokens[i].empty())
            (void)vocab.pieces.index(static_cast<TokenId>(i));
}

}  // namespace

void SpmFallback::append(std::string_view bytes, size_t n_before, std::vector<TokenId>& ids) const {
    if (byte_ids[0] != kNoToken) {
        for (char c : bytes) ids.push_back(byte_ids[static_cast<uint8_t>(c)]);
        return;
    }
    if (unk == kNoToken || (fuses && ids.size() > n_before && ids.back() == unk)) return;
    ids.push_back(unk);
}

Result<SpmFallback> add_spm_pieces(const TokenizerSpec& spec, SpmIndex which, Vocab& vocab) {
    SpmFallback fallback;
    fallback.byte_ids.fill(kNoToken);
    fallback.unk = spec.unk.value_or(kNoToken);
    fallback.fuses = spec.fuses_unknown;
    for (size_t i = 0; i < spec.tokens.size(); ++i) {
        const TokenType type = vocab.types[i];
        if (type == TokenType::byte)
            KVIK_TRY_VOID(add_byte_token(spec, static_cast<TokenId>(i), vocab, fallback));
        else if (type == TokenType::control || type == TokenType::unknown)
            vocab.pieces.pool() += spec.tokens[i];
        else
            append_unmarked(spec.tokens[i], vocab.pieces.pool());
        vocab.pieces.close_piece();
    }
    index(spec, TokenType::normal, vocab);
    // A merge may make a user-defined token, unless an ordinary one has the same bytes.
    if (which == SpmIndex::all_but_control) index(spec, TokenType::user_defined, vocab);
    KVIK_TRY_VOID(check_fallback(spec, fallback));
    return fallback;
}

std::string with_plain_spaces(std::string_view text, SpacePrefix prefix, Place place) {
    std::string plain;
    plain.reserve(text.size() + 1);
    const bool keeps = prefix != SpacePrefix::around_control &&
                       (text.starts_with(' ') || text.starts_with(kSpaceMark));
    if (has_prefix(prefix, place) && !keeps) plain += ' ';
    append_unmarked(text, plain);
    return plain;
}

}  // namespace kvik
