// Which chat template a prompt is written by: one of the model's, one of kvik's own, or a file.
//
// Order   what was asked for by name is looked for among the model's, then kvik's own, then as a
//         file. Not asked: the model's `tool_use` where tools are given and it has one, else its
//         `default`; a model without templates gets the one of kvik's whose tokens it has.
// Errors  a name that nothing has: ErrorKind::usage with the names there are. A model with several
//         and no default, or an empty template: ErrorKind::unsupported.
// Source  the order as transformers 5.24 has it (get_chat_template).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer.h"

namespace kvik {

inline constexpr size_t kMostTemplates = 64;  // that a model may bring

struct NamedTemplate {
    std::string name;  // "default", "tool_use", ...
    std::string source;
};

// The later one of a name counts, in the place of the first.
void add_template(std::vector<NamedTemplate>& templates, std::string name, std::string source);

enum class TemplateOrigin : uint8_t { none, model, builtin, file };
std::string_view template_origin_name(TemplateOrigin origin);

struct TemplateWish {
    std::string asked = {};  // a name or a file; empty: as the model has it
    bool has_tools = false;
};

struct ChosenTemplate {
    TemplateOrigin origin = TemplateOrigin::none;  // none: there is none that fits
    std::string name = {};                         // or the file's path
    std::string source = {};
};

Result<ChosenTemplate> choose_template(const std::vector<NamedTemplate>& templates,
                                       std::string_view architecture, const Tokenizer& tokenizer,
                                       const TemplateWish& wish);

}  // namespace kvik
