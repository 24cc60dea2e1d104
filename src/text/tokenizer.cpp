#include "text/tokenizer.h"

#include <fmt/format.h>

#include "text/bpe_tokenizer.h"
#include "text/spm_tokenizer.h"
#include "text/tokenizer_vocab.h"
#include "text/utf8.h"

namespace kvik {

std::string Tokenizer::decode(std::span<const TokenId> ids) const {
    std::string text;
    Utf8Stream stream;
    for (TokenId id : ids) stream.push(piece(id), text);
    stream.finish(text);
    return text;
}

Result<std::unique_ptr<Tokenizer>> make_tokenizer(TokenizerSpec spec) {
    KVIK_TRY_VOID(check_spec(spec));
    if (spec.model == "gpt2") return make_bpe_tokenizer(spec);
    if (spec.model == "llama") return make_spm_tokenizer(spec);
    return fail(ErrorKind::unsupported,
                fmt::format("tokenizer model '{}' is not known: use a model with gpt2 (byte-level "
                            "BPE) or llama (SentencePiece)",
                            spec.model));
}

}  // namespace kvik
