#include "text/builtin_templates.h"

namespace kvik {
namespace {

// Every turn between <|im_start|>role and <|im_end|>.
constexpr std::string_view kChatMl = R"({%- for message in messages -%}
    {{- '<|im_start|>' ~ message.role ~ '\n' ~ (message.content or '') ~ '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|im_start|>assistant\n' -}}
{%- endif -%}
)";

// No system role: its text opens the first turn. The assistant is called "model", user and
// assistant alternate, and blanks around what they say are dropped.
constexpr std::string_view kGemma = R"({%- macro words(content) -%}
    {%- if content is string -%}
        {{- content | trim -}}
    {%- else -%}
        {%- for part in content or [] -%}
            {{- '<start_of_image>' if part.type == 'image' else part.text | trim -}}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro -%}

{%- set turn = namespace(opening='', n=0) -%}
{{- bos_token -}}
{%- for message in messages -%}
    {%- if message.role == 'system' and loop.first -%}
        {%- set content = message.content -%}
        {%- set turn.opening = (content if content is string else words(content)) ~ '\n\n' -%}
    {%- else -%}
        {%- if (message.role == 'user') != (turn.n is even) -%}
            {{- raise_exception('user and assistant must take turns, the user first') -}}
        {%- endif -%}
        {%- set speaker = 'model' if message.role == 'assistant' else message.role -%}
        {{- '<start_of_turn>' ~ speaker ~ '\n' ~ turn.opening -}}
        {{- words(message.content) ~ '<end_of_turn>\n' -}}
        {%- set turn.opening = '' -%}
        {%- set turn.n = turn.n + 1 -%}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<start_of_turn>model\n' -}}
{%- endif -%}
)";

struct Row {
    std::string_view architecture;
    std::string_view source;
};

constexpr Row kRows[] = {
    {"gemma", kGemma},
    {"gemma2", kGemma},
    {"gemma3", kGemma},
};

}  // namespace

std::string_view builtin_chat_template(std::string_view architecture) {
    for (const Row& row : kRows) {
        if (row.architecture == architecture) return row.source;
    }
    return kChatMl;
}

}  // namespace kvik
