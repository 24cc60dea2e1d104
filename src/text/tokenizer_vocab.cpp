#include "text/tokenizer_vocab.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/check.h"
#include "text/trusted_reach.h"
#include "text/utf8.h"

namespace kvik {
namespace {

tl::unexpected<Error> lie(std::string message) {
    return fail(ErrorKind::file, "tokenizer: " + std::move(message));
}

bool is_control_type(TokenType type) {
    return type == TokenType::control || type == TokenType::unknown;
}

struct Cut {
    size_t begin = 0;
    size_t end = 0;
};

// What a token at `at` takes from the text, of which all before `begin` is done.
Cut cut_around(std::string_view text, size_t begin, size_t at, size_t n_bytes, FindRule rule) {
    Cut cut{at, at + n_bytes};
    if (rule.takes_space_before) cut.begin = begin + trimmed_end(text.substr(begin, at - begin));
    while (rule.takes_space_after) {
        const size_t n_space = white_space_at(text.substr(cut.end));
        if (n_space == 0) break;
        cut.end += n_space;
    }
    return cut;
}

Result<void> check_id(const TokenizerSpec& spec, std::string_view field,
                      const std::optional<TokenId>& id) {
    if (!id || (*id >= 0 && static_cast<size_t>(*id) < spec.tokens.size())) return {};
    return lie(
        fmt::format("{} is {}, the vocabulary has {} tokens", field, *id, spec.tokens.size()));
}

}  // namespace

Result<void> check_spec(const TokenizerSpec& spec) {
    const size_t n_tokens = spec.tokens.size();
    if (n_tokens == 0 || n_tokens > kMaxTokens)
        return lie(fmt::format("tokens has {} entries: 1 to {} can be used", n_tokens, kMaxTokens));
    if (!spec.types.empty() && spec.types.size() != n_tokens)
        return lie(fmt::format("types has {} entries, tokens has {}", spec.types.size(), n_tokens));
    if (!spec.scores.empty() && spec.scores.size() != n_tokens)
        return lie(
            fmt::format("scores has {} entries, tokens has {}", spec.scores.size(), n_tokens));
    if (!spec.rules.empty() && spec.rules.size() != n_tokens)
        return lie(fmt::format("rules has {} entries, tokens has {}", spec.rules.size(), n_tokens));
    if (spec.merges.size() > kMaxTokens)
        return lie(fmt::format("merges has {} entries: at most {} can be used", spec.merges.size(),
                               kMaxTokens));
    size_t n_bytes = 0;
    for (size_t i = 0; i < n_tokens; ++i) {
        if (spec.tokens[i].size() > kMaxTokenBytes)
            return lie(fmt::format("tokens[{}] has {} bytes: at most {} can be used", i,
                                   spec.tokens[i].size(), kMaxTokenBytes));
        n_bytes += spec.tokens[i].size();
    }
    if (n_bytes > kMaxVocabBytes)
        return lie(fmt::format("tokens have {} bytes together: at most {} can be used", n_bytes,
                               kMaxVocabBytes));
    for (size_t i = 0; i < spec.types.size(); ++i)
        if (spec.types[i] < TokenType::normal || spec.types[i] > TokenType::byte)
            return lie(fmt::format("types[{}] is {}: 1 to 6 are known", i,
                                   static_cast<int>(spec.types[i])));
    for (size_t i = 0; i < spec.scores.size(); ++i)
        if (std::isnan(spec.scores[i])) return lie(fmt::format("scores[{}] is not a number", i));
    for (size_t i = 0; i < spec.ends.size(); ++i)
        KVIK_TRY_VOID(check_id(spec, fmt::format("ends[{}]", i), spec.ends[i]));
    KVIK_TRY_VOID(check_id(spec, "bos", spec.bos));
    KVIK_TRY_VOID(check_id(spec, "eos", spec.eos));
    KVIK_TRY_VOID(check_id(spec, "eot", spec.eot));
    KVIK_TRY_VOID(check_id(spec, "unk", spec.unk));
    return {};
}

Vocab::Vocab(const TokenizerSpec& spec, Normalizer text_normalizer, SpaceMark mark,
             SpaceMark special_mark)
    : types(spec.types),
      rules(spec.rules),
      normalizer(std::move(text_normalizer)),
      specials(special_mark, spec.types.empty() ? 0 : 1024),
      normalized_specials(mark, 0),
      bos(spec.bos),
      eos(spec.eos),
      eot(spec.eot),
      ends(spec.ends),
      add_bos(spec.add_bos) {
    types.resize(spec.tokens.size(), TokenType::normal);
    size_t n_bytes = 0;
    for (const std::string& token : spec.tokens) n_bytes += token.size();
    pieces.reserve(spec.tokens.size(), n_bytes);
}

Result<Vocab> Vocab::make(const TokenizerSpec& spec, SpaceMark mark, SpaceMark special_mark) {
    KVIK_TRY(Normalizer normalizer, Normalizer::make(spec.steps));
    return Vocab(spec, std::move(normalizer), mark, special_mark);
}

void Vocab::add_specials(const TokenizerSpec& spec) {
    for (size_t i = 0; i < types.size(); ++i) {
        const bool user_defined = types[i] == TokenType::user_defined;
        const std::string& spelling = spec.tokens[i];
        if ((!user_defined && !is_control_type(types[i])) || spelling.empty()) continue;
        const TokenId id = static_cast<TokenId>(i);
        // A control token is found as it is written: no normalisation may make one.
        if (user_defined && rule(id).normalized) {
            const std::string normal = normalizer.apply(spelling);
            if (!normal.empty())
                (void)normalized_specials.add(normal, id, SpecialUse::user_defined);
            continue;
        }
        (void)specials.add(spelling, id,
                           user_defined ? SpecialUse::user_defined : SpecialUse::control);
    }
}

VocabTokenizer::VocabTokenizer(Vocab vocab) : vocab_(std::move(vocab)) {
    for (const FindRule& rule : vocab_.rules) {
        takes_spaces_ = takes_spaces_ || rule.takes_space_before || rule.takes_space_after;
    }
}

void VocabTokenizer::encode_stretch(std::string_view text, Place place,
                                    std::vector<TokenId>& ids) const {
    std::string normal;
    if (!vocab_.normalizer.changes_nothing()) {
        normal = vocab_.normalizer.apply(text);
        text = normal;
    }
    size_t begin = 0;
    for (size_t at = 0; at < text.size() && !vocab_.normalized_specials.empty();) {
        const auto hit = vocab_.normalized_specials.longest(text.substr(at), 0);
        if (!hit) {
            ++at;
            continue;
        }
        const Cut cut = cut_around(text, begin, at, hit->n_bytes, vocab_.rule(hit->id));
        if (cut.begin > begin) encode_text(text.substr(begin, cut.begin - begin), place, ids);
        ids.push_back(hit->id);
        place = Place::after_user_defined;
        begin = at = cut.end;
    }
    if (begin < text.size()) encode_text(text.substr(begin), place, ids);
}

std::vector<TokenId> VocabTokenizer::encode_parts(std::string_view text, Specials specials,
                                                  std::span<const ByteRange> untrusted,
                                                  From from) const {
    std::vector<TokenId> ids;
    ids.reserve((text.size() - from.byte) / 4 + 1);
    TrustedReach reach(untrusted);
    Place place = from.place;
    size_t begin = from.byte;  // of the stretch that is not yet encoded
    for (size_t at = begin; at < text.size();) {
        const size_t most = specials == Specials::recognised ? reach.from(at) : 0;
        const std::optional<SpecialTrie::Hit> hit = vocab_.specials.longest(text.substr(at), most);
        if (!hit) {
            ++at;
            continue;
        }
        const Cut cut = cut_around(text, begin, at, hit->n_bytes, vocab_.rule(hit->id));
        if (cut.begin > begin) encode_stretch(text.substr(begin, cut.begin - begin), place, ids);
        ids.push_back(hit->id);
        place = is_control(hit->id) ? Place::after_control : Place::after_user_defined;
        begin = at = cut.end;
    }
    if (begin < text.size()) encode_stretch(text.substr(begin), place, ids);
    return ids;
}

std::vector<TokenId> VocabTokenizer::encode(std::string_view text, Specials specials) const {
    return encode_parts(text, specials, {}, {});
}

std::vector<TokenId> VocabTokenizer::encode(const MarkedText& text) const {
    return encode_parts(text.text, Specials::recognised, text.untrusted, {});
}

uint32_t VocabTokenizer::n_tokens() const {
    return vocab_.pieces.n_tokens();
}

bool VocabTokenizer::has_token(TokenId id) const {
    return id >= 0 && static_cast<uint32_t>(id) < n_tokens();
}

std::string_view VocabTokenizer::piece(TokenId id) const {
    return has_token(id) ? vocab_.pieces.piece(id) : std::string_view();
}

bool VocabTokenizer::is_control(TokenId id) const {
    return !has_token(id) || is_control_type(vocab_.types[static_cast<size_t>(id)]);
}

std::optional<TokenId> VocabTokenizer::find(std::string_view special) const {
    const std::optional<TokenId> id = vocab_.specials.find(special);
    return id ? id : vocab_.pieces.find(special);
}

std::optional<TokenId> VocabTokenizer::bos() const {
    return vocab_.bos;
}
std::optional<TokenId> VocabTokenizer::eos() const {
    return vocab_.eos;
}
std::optional<TokenId> VocabTokenizer::eot() const {
    return vocab_.eot;
}
std::span<const TokenId> VocabTokenizer::ends() const {
    return vocab_.ends;
}
bool VocabTokenizer::adds_bos() const {
    return vocab_.add_bos;
}

}  // namespace kvik
