// Where a text falls into two that can be tokenised apart.
//
// A token found as it is written is looked for from left to right, the longest at each place. If
// none that any place before `at` would find reaches across it, then the search comes to `at` itself,
// and has found before it what it finds in the text that ends there. Two kinds of places are safe:
//
//   <|im_end|>   such a token begins there: what stands between such tokens is encoded apart.
//   word| word   a space inside of what stands between: where the tokenizer's kind says so.
//
// A token that ends there is not among them: what comes next would have to know that it did.
#include "base/check.h"
#include "text/tokenizer_vocab.h"
#include "text/trusted_reach.h"

namespace kvik {

static bool is_printable(char byte) {
    return byte > ' ' && byte < '\x7F';
}

size_t VocabTokenizer::split_reach() const {
    return vocab_.specials.longest_spelling() + 1;
}

bool VocabTokenizer::splits_at(const MarkedText& text, size_t at) const {
    const std::string_view bytes = text.text;
    if (at == 0 || at >= bytes.size()) return at <= bytes.size();
    const char before = bytes[at - 1], after = bytes[at];
    if (takes_spaces_ && !(is_printable(before) && is_printable(after))) return false;
    const auto begins_special = [&] {
        TrustedReach reach(text.untrusted);
        return vocab_.specials.longest(bytes.substr(at), reach.from(at)).has_value();
    };
    const auto is_space_in_a_stretch = [&] {
        return after == ' ' && is_printable(before) && vocab_.normalizer.keeps_spaces_apart() &&
               vocab_.normalized_specials.empty() && splits_before_space(before);
    };
    const bool begins = begins_special();
    if (!begins && !is_space_in_a_stretch()) return false;
    TrustedReach reach(text.untrusted);
    const size_t n_reach = split_reach();
    for (size_t place = at > n_reach ? at - n_reach : 0; place < at; ++place) {
        const auto hit = vocab_.specials.longest(bytes.substr(place), reach.from(place));
        if (!hit) continue;
        const size_t end = place + hit->n_bytes;
        if (end > at || (end == at && !begins)) return false;
    }
    return true;
}

std::vector<TokenId> VocabTokenizer::encode_from(const MarkedText& text, size_t at) const {
    KVIK_CHECK(at <= text.text.size(), "the rest of a text begins in it");
    // No space is put before the rest of a stretch: it begins with one, and no control token stands
    // before it.
    const Place place = at == 0 ? Place::start : Place::after_user_defined;
    return encode_parts(text.text, Specials::recognised, text.untrusted, {at, place});
}

}  // namespace kvik
