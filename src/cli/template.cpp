#include <fmt/format.h>

#include "cli/ids.h"
#include "cli/json.h"
#include "cli/local_time.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/text_side.h"
#include "cli/verbs.h"
#include "engine/chat_prompt.h"

namespace kvik::cli {

static Result<MarkedText> render(const TextSide& side, TemplateRequest request) {
    KVIK_TRY(const ChatTemplate chat_template, ChatTemplate::compile(*side.chat_template));
    TemplateInputs inputs = template_inputs(*side.tokenizer, std::move(request.messages));
    inputs.variables = std::move(request.variables);
    inputs.now = local_now();
    return chat_template.render(inputs);
}

Result<int> render_template(const Call& call) {
    std::string model, messages_path;
    bool json = false;
    Flags flags("template", "Messages as the model's chat template writes them, and their ids.");
    add_model(flags, model);
    flags.argument({.name = "MESSAGES",
                    .help =
                        "a JSON file, [{\"role\": \"user\", \"content\": \"...\"}]; - is stdin.\n"
                        "Or an object of \"messages\" and the template's variables, as "
                        "\"tools\"",
                    .set = into(messages_path)});
    flags.add({.name = "--json", .help = "one JSON object", .set = turn_on(json)});
    KVIK_TRY(const auto shown, begin(flags, call));
    if (shown) return *shown;

    KVIK_TRY(const std::string source, read_file(messages_path));
    KVIK_TRY(auto request,
             parse_template_request(source, messages_path == "-" ? "stdin" : messages_path));
    KVIK_TRY(const TextSide side, open_text_side(model));
    if (!side.chat_template)
        return fail(ErrorKind::unsupported, fmt::format("{} has no chat template", model));
    tell_builtin(side.builtin);
    const auto text = render(side, std::move(request));
    if (!text)
        return fail(text.error().kind, fmt::format("{}: {} (run --raw does without a template)",
                                                   model, text.error().message));
    const std::vector<TokenId> ids = encode_prompt(*side.tokenizer, *text);
    KVIK_TRY_VOID(put(json ? to_line({{"text", text->text}, {"ids", ids}})
                           : fmt::format("{}{}{}", text->text,
                                         text->text.ends_with('\n') ? "" : "\n", to_line(ids))));
    return 0;
}

}  // namespace kvik::cli
