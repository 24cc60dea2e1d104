// Any bytes as a vocabulary and a text: the spec is refused with one line, or the text becomes ids
// of the vocabulary that decode to what was there.
//
// Shape   lines; the first names the kind (its first byte), others are "<type digit><token>" or
//         "m<merge>"; what follows an empty line is the text. Seeds lie in tests/corpus/tokenizer.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"

namespace kvik {
namespace {

std::string_view take_line(std::string_view& input) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(line.size() < input.size() ? line.size() + 1 : line.size());
    return line;
}

TokenizerSpec read_spec(std::string_view& input) {
    TokenizerSpec spec;
    const std::string_view kind = take_line(input);
    const bool has_scores = kind.starts_with('s') || kind.starts_with('u');
    if (has_scores || kind.starts_with('c'))
        spec.model = kind.starts_with('u') ? "unigram" : "llama";
    else
        spec.model = "gpt2";
    spec.pre = kind.starts_with('l') ? "llama-bpe" : "smollm";
    spec.splits_at_spaces = kind.ends_with('/');
    if (kind.ends_with('=')) spec.steps.push_back({NormalizerStep::Kind::nfc});
    if (kind.ends_with('_')) spec.space_prefix = SpacePrefix::around_control;
    while (!input.empty()) {
        const std::string_view line = take_line(input);
        if (line.empty()) break;
        if (line[0] == 'm') {
            spec.merges.emplace_back(line.substr(1));
            continue;
        }
        spec.types.push_back(static_cast<TokenType>(line[0] - '0'));
        spec.tokens.emplace_back(line.substr(1));
        // Some scores are equal, and they neither rise nor fall.
        if (has_scores) spec.scores.push_back(static_cast<float>(spec.tokens.size() * 7 % 5));
        if (spec.types.back() == TokenType::unknown)
            spec.unk = static_cast<TokenId>(spec.tokens.size() - 1);
    }
    return spec;
}

void check_ids(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
    Detokenizer detokenizer(tokenizer, Controls::shown);
    std::string text;
    for (TokenId id : ids) {
        KVIK_CHECK(id >= 0 && static_cast<uint32_t>(id) < tokenizer.n_tokens(),
                   "ids are of the vocabulary");
        text += detokenizer.push(id);
    }
    text += detokenizer.finish();
    KVIK_CHECK(text == tokenizer.decode(ids), "streamed text is the whole's text");
}

}  // namespace
}  // namespace kvik

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t n_bytes) {
    using namespace kvik;
    std::string_view input(reinterpret_cast<const char*>(data), n_bytes);
    const TokenizerSpec spec = read_spec(input);
    const auto tokenizer = make_tokenizer(spec);
    if (!tokenizer) {
        KVIK_CHECK(tokenizer.error().message.starts_with("tokenizer"), "an error names its field");
        return 0;
    }
    const std::string text(input);
    for (Specials specials : {Specials::as_text, Specials::recognised})
        check_ids(**tokenizer, (*tokenizer)->encode(text, specials));
    const size_t third = text.size() / 3;
    const auto ids = (*tokenizer)->encode(MarkedText{text, {{third, 2 * third}}});
    check_ids(**tokenizer, ids);
    for (TokenId id : (*tokenizer)->encode(MarkedText{text, {{0, text.size()}}}))
        KVIK_CHECK(spec.types[static_cast<size_t>(id)] != TokenType::control,
                   "untrusted text writes no control token");
    return 0;
}
