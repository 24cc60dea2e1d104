// EngineParts: a model with its words, its threads and what is known of its files: all that an engine
// needs beside its settings. load_parts reads them from the files that EngineOptions names.
//
// Owner   all of it; Engine::Impl takes it over.
// Threads any; load_parts runs on the thread that opens the engine.
// Cost    load_parts maps the model's files and repacks the weights; seconds for a large model.
// Errors  load_parts: a file that is missing, damaged or of an unsupported kind. A tokenizer or a
//         template that cannot be used is no error unless the options name it: no_tokenizer and
//         template_error then say why.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kvik/kvik.h"
#include "model/chat_templates.h"

namespace kvik {

struct EngineParts {
    std::unique_ptr<ThreadPool> pool;
    std::unique_ptr<Model> model;
    std::unique_ptr<Tokenizer> tokenizer;         // null: no text
    std::optional<Error> no_tokenizer;            // why a tokenizer that is there is not used
    std::vector<TokenId> ends;                    // end tokens that the model names itself
    std::unique_ptr<ChatTemplate> chat_template;  // null: none
    TemplateOrigin template_origin = TemplateOrigin::none;
    std::string template_name;
    std::optional<Error> template_error;  // why a template that is there is not used
    std::string isa;
    std::vector<std::string> notes;  // of the model's files
};

Result<EngineParts> load_parts(const EngineOptions& options);

}  // namespace kvik
