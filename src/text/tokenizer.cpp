#include "text/tokenizer.h"

#include <fmt/format.h>

#include "text/bpe_tokenizer.h"
#include "text/spm_tokenizer.h"
#include "text/tokenizer_vocab.h"
#include "text/unigram_tokenizer.h"
#include "text/utf8.h"

namespace kvik {

std::string Tokenizer::decode(std::span<const TokenId> ids) const {
    std::string text;
    Utf8Stream stream;
    for (TokenId id : ids) stream.push(piece(id), text);
    stream.finish(text);
    return text;
}

namespace {

Result<std::unique_ptr<Tokenizer>> make_by_model(const TokenizerSpec& spec) {
    KVIK_TRY_VOID(check_spec(spec));
    if (spec.model == "gpt2") return make_bpe_tokenizer(spec);
    if (spec.model == "llama") return make_spm_tokenizer(spec);
    if (spec.model == "unigram") return make_unigram_tokenizer(spec);
    return fail(ErrorKind::unsupported,
                fmt::format("tokenizer model '{}' is not known: use a model with gpt2 (byte-level "
                            "BPE), llama (SentencePiece) or unigram",
                            shown(spec.model)));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> make_tokenizer(TokenizerSpec spec) {
    auto made = make_by_model(spec);
    if (!made && !spec.source.empty())
        return fail(made.error().kind, fmt::format("{}: {}", spec.source, made.error().message));
    return made;
}

}  // namespace kvik
