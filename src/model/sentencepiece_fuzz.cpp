// Any bytes as tokenizer.model, then a text: refused with one line that names the file, or the text
// becomes ids of the vocabulary.
//
// Shape   the text is behind the last newline, if there is one. Seeds lie in
//         tests/corpus/sentencepiece.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "model/hf_tokenizer.h"
#include "model/sentencepiece_model.h"

namespace kvik {
namespace {

void check_error(const Error& error) {
    KVIK_CHECK(error.kind == ErrorKind::file || error.kind == ErrorKind::unsupported,
               "a hostile file is a lie or something that is not supported");
    KVIK_CHECK(error.message.starts_with("model/"), "an error names its file");
    KVIK_CHECK(error.message.find('\n') == std::string::npos, "an error is one line");
}

}  // namespace
}  // namespace kvik

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t n_bytes) {
    using namespace kvik;
    const std::string_view input(reinterpret_cast<const char*>(data), n_bytes);
    const size_t line_end = input.rfind('\n');
    const std::string text(line_end == input.npos ? "a text" : input.substr(line_end + 1));
    const auto model = read_sentencepiece(input.substr(0, line_end), "model/tokenizer.model");
    if (!model) return check_error(model.error()), 0;
    const auto json = tokenizer_json_of(*model, {}, "model/tokenizer_config.json");
    if (!json) return check_error(json.error()), 0;
    const auto spec = tokenizer_from_hf({"model", *json, {}, {}});
    if (!spec) return check_error(spec.error()), 0;
    const auto tokenizer = make_tokenizer(*spec);
    if (!tokenizer) return check_error(tokenizer.error()), 0;
    const auto ids = (*tokenizer)->encode(text, Specials::as_text);
    for (const TokenId id : ids)
        KVIK_CHECK(id >= 0 && static_cast<uint32_t>(id) < (*tokenizer)->n_tokens(),
                   "ids are of the vocabulary");
    (void)(*tokenizer)->decode(ids);
    return 0;
}
