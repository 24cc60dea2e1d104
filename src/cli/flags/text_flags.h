// TokenizeOptions, TemplateOptions, ScoreOptions: the flags of the verbs that read a text and do not
// answer it.
//
// Use     NAME_flags() binds a table to the struct, which stays alive until parse() has returned.
// Errors  those of single flags, from parse(). What does not go together the verb refuses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/flags/options.h"
#include "model/chat_templates.h"
#include "text/tokenizer.h"

namespace kvik::cli {

struct TokenizeOptions {
    std::string model;
    std::optional<std::string> text, file;
    bool json = false, jsonl = false, bos = false, decode = false;
    Specials specials = Specials::as_text;
};

Flags tokenize_flags(TokenizeOptions& options);

struct TemplateOptions {
    std::string model, messages_path;
    TemplateWish wish;
    bool json = false;
};

Flags template_flags(TemplateOptions& options);

struct ScoreOptions {
    EngineOptions engine;
    std::optional<std::vector<TokenId>> ids;
    std::optional<std::string> text, file, dump;
    bool json = false;
};

Flags score_flags(ScoreOptions& options);

}  // namespace kvik::cli
