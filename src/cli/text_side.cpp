#include "cli/text_side.h"

#include <fmt/format.h>

#include "cli/json.h"
#include "engine/chat_prompt.h"
#include "formats/gguf.h"
#include "model/gguf_tokenizer.h"
#include "text/builtin_templates.h"

namespace kvik::cli {

std::optional<BuiltinTemplate> builtin_template_for(const Tokenizer& tokenizer,
                                                    const std::string& architecture) {
    const std::string_view source = builtin_chat_template(architecture);
    const auto compiled = ChatTemplate::compile(std::string(source));
    if (!compiled || !find_turn_end(tokenizer, *compiled)) return std::nullopt;
    const bool is_chatml = source == builtin_chat_template("");
    return BuiltinTemplate{is_chatml ? "chatml" : architecture, std::string(source)};
}

Result<TextSide> open_text_side(const std::string& path) {
    KVIK_TRY(const GgufFile file, GgufFile::open(path));
    KVIK_TRY(auto spec, tokenizer_from_gguf(file.metadata()));
    if (!spec)
        return fail(ErrorKind::unsupported,
                    fmt::format("{} has no tokenizer: only token ids work with it", path));
    TextSide text;
    KVIK_TRY(text.tokenizer, make_tokenizer(std::move(*spec)));
    KVIK_TRY(text.chat_template, chat_template_from_gguf(file.metadata()));
    if (text.chat_template) return text;
    KVIK_TRY(const auto architecture, file.metadata().find_string("general.architecture"));
    if (auto builtin =
            builtin_template_for(*text.tokenizer, std::string(architecture.value_or(""))))
        text.chat_template = std::move(builtin->source);
    return text;
}

Result<std::vector<ChatMessage>> parse_messages(std::string_view json, std::string_view what) {
    KVIK_TRY(const Json list, parse_json(json, what));
    if (!list.is_array() || list.empty())
        return fail(ErrorKind::usage,
                    fmt::format("{} is not a JSON list of messages, such as "
                                "[{{\"role\": \"user\", \"content\": \"Hello\"}}]",
                                what));
    std::vector<ChatMessage> messages;
    for (const Json& item : list) {
        const std::string place = fmt::format("{}: [{}]", what, messages.size());
        if (!item.is_object()) return fail(ErrorKind::usage, place + " is not an object");
        for (const auto& [key, value] : item.items())
            if (key != "role" && key != "content")
                return fail(ErrorKind::unsupported,
                            fmt::format("{}.{} is not available in this version", place, key));
        for (const char* key : {"role", "content"})
            if (!item.contains(key) || !item[key].is_string())
                return fail(ErrorKind::usage, fmt::format("{}.{} is not a string", place, key));
        messages.push_back({item["role"], item["content"]});
    }
    return messages;
}

}  // namespace kvik::cli
