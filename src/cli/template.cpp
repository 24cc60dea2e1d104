#include <fmt/format.h>

#include <algorithm>

#include "cli/flags/text_flags.h"
#include "cli/ids.h"
#include "cli/json.h"
#include "cli/local_time.h"
#include "cli/terminal.h"
#include "cli/text_side.h"
#include "cli/verbs.h"
#include "engine/session/chat_prompt.h"

namespace kvik::cli {

static Result<MarkedText> render(const TextSide& side, std::string source,
                                 TemplateRequest request) {
    KVIK_TRY(const ChatTemplate chat_template, ChatTemplate::compile(std::move(source)));
    TemplateInputs inputs = template_inputs(*side.tokenizer, std::move(request.messages));
    inputs.variables = std::move(request.variables);
    inputs.now = local_now();
    return chat_template.render(inputs);
}

static bool has_tools(const TemplateRequest& request) {
    return std::any_of(
        request.variables.begin(), request.variables.end(),
        [](const TemplateField& field) { return field.name == "tools" && field.json != "null"; });
}

Result<int> render_template(const Call& call) {
    TemplateOptions options;
    const Flags flags = template_flags(options);
    KVIK_TRY(const auto shown, begin(flags, call));
    if (shown) return *shown;

    KVIK_TRY(const std::string source, read_file(options.messages_path));
    KVIK_TRY(auto request,
             parse_template_request(
                 source, options.messages_path == "-" ? "stdin" : options.messages_path));
    KVIK_TRY(const TextSide side, open_text_side(options.model));
    options.wish.has_tools = has_tools(request);
    KVIK_TRY(ChosenTemplate chosen, template_of(side, options.model, options.wish));
    tell_borrowed(chosen, options.wish);
    const auto text = render(side, std::move(chosen.source), std::move(request));
    if (!text)
        return fail(text.error().kind, fmt::format("{}: {} (run --raw does without a template)",
                                                   options.model, text.error().message));
    const std::vector<TokenId> ids = encode_prompt(*side.tokenizer, *text);
    KVIK_TRY_VOID(put(
        options.json
            ? to_line({{"text", text->text},
                       {"ids", ids},
                       {"template",
                        {{"source", template_origin_name(chosen.origin)}, {"name", chosen.name}}}})
            : fmt::format("{}{}{}", text->text, text->text.ends_with('\n') ? "" : "\n",
                          to_line(ids))));
    return 0;
}

}  // namespace kvik::cli
