// Any bytes as tokenizer.json, tokenizer_config.json, generation_config.json and a text: refused
// with one line that names the file, or the text becomes ids of the vocabulary, and nothing that is
// not trusted becomes a control token.
//
// Shape   the four parts one after the other, a NUL byte between them; later parts may be missing.
//         Seeds lie in tests/corpus/tokenizer_json.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "model/hf_chat_templates.h"
#include "model/hf_tokenizer.h"

namespace kvik {
namespace {

std::string_view take_part(std::string_view& input) {
    const std::string_view part = input.substr(0, input.find('\0'));
    input.remove_prefix(std::min(part.size() + 1, input.size()));
    return part;
}

void check_error(const Error& error) {
    KVIK_CHECK(error.kind == ErrorKind::file || error.kind == ErrorKind::unsupported,
               "a hostile file is a lie or something that is not supported");
    KVIK_CHECK(error.message.starts_with("model/"), "an error names its file");
    KVIK_CHECK(error.message.find('\n') == std::string::npos, "an error is one line");
}

void check_tokenizer(const TokenizerSpec& spec, const Tokenizer& tokenizer,
                     const std::string& text) {
    for (const Specials specials : {Specials::as_text, Specials::recognised}) {
        const std::vector<TokenId> ids = tokenizer.encode(text, specials);
        for (const TokenId id : ids)
            KVIK_CHECK(id >= 0 && static_cast<uint32_t>(id) < tokenizer.n_tokens(),
                       "ids are of the vocabulary");
        (void)tokenizer.decode(ids);
    }
    for (const TokenId id : tokenizer.encode(MarkedText{text, {{0, text.size()}}}))
        KVIK_CHECK(spec.types[static_cast<size_t>(id)] != TokenType::control,
                   "untrusted text writes no control token");
}

}  // namespace
}  // namespace kvik

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t n_bytes) {
    using namespace kvik;
    std::string_view input(reinterpret_cast<const char*>(data), n_bytes);
    HfTokenizerFiles files{"model", take_part(input), {}, {}};
    const std::string_view config = take_part(input);
    const std::string_view generation = take_part(input);
    if (!config.empty()) files.tokenizer_config = config;
    if (!generation.empty()) files.generation_config = generation;
    if (files.tokenizer_config) {
        const auto source = chat_templates_from_hf_config(config, "model/tokenizer_config.json");
        if (!source) check_error(source.error());
    }
    const auto spec = tokenizer_from_hf(files);
    if (!spec) {
        check_error(spec.error());
        return 0;
    }
    const auto tokenizer = make_tokenizer(*spec);
    if (!tokenizer) {
        check_error(tokenizer.error());
        return 0;
    }
    check_tokenizer(*spec, **tokenizer, std::string(input));
    return 0;
}
