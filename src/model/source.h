// What a MODEL path holds, whatever its format: a GGUF file or a Hugging Face directory.
//
// Use     open_words for text alone, open_source for a model to run. Both read headers, no weights.
// Owner   the mapping of the tensors' file or files.
// Errors  what the readers say; a path that is neither: ErrorKind::file, naming what it could be.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/tensor_file.h"
#include "model/chat_templates.h"
#include "model/config.h"
#include "model/format.h"
#include "text/tokenizer.h"

namespace kvik {

Result<ModelFormat> format_of_model(const std::string& path);

struct ModelWords {
    std::string architecture;                // as the file has it; empty: it does not say
    std::optional<TokenizerSpec> tokenizer;  // nothing: ids only
    std::optional<Error> no_tokenizer;       // why, where the files have one that kvik cannot use
    std::vector<TokenId> ends;               // end an answer, with a tokenizer or without
    std::vector<NamedTemplate> chat_templates;
};

Result<ModelWords> open_words(const std::string& path);

// The tokenizer that the words describe, whose spec is taken out of them; null: they have none.
// Errors: one that kvik cannot use is ErrorKind::unsupported, which blocks text and leaves token ids.
Result<std::unique_ptr<Tokenizer>> take_tokenizer(ModelWords& words);

struct ModelSource {
    ModelFormat format = ModelFormat::gguf;
    ModelConfig config;
    std::unique_ptr<TensorFile> tensors;
    ModelWords words;
    std::vector<std::string> notes;  // what the user should know of the files, a sentence each
};

Result<ModelSource> open_source(const std::string& path);

}  // namespace kvik
