#include "text/builtin_templates.h"

#include <algorithm>
#include <array>
#include <cstdint>

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

// Every turn behind a header that names its speaker, blanks around what is said dropped.
constexpr std::string_view kLlama3 = R"({{- bos_token -}}
{%- for message in messages -%}
    {{- '<|start_header_id|>' ~ message.role ~ '<|end_header_id|>\n\n' -}}
    {{- (message.content or '') | trim ~ '<|eot_id|>' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' -}}
{%- endif -%}
)";

// Text around the user's turns, BOS before each and EOS behind each answer; the system text stands
// inside the first turn.
constexpr std::string_view kLlama2 = R"({%- set turn = namespace(opening='', n=0) -%}
{%- for message in messages -%}
    {%- if message.role == 'system' and loop.first -%}
        {%- set turn.opening = '<<SYS>>\n' ~ message.content ~ '\n<</SYS>>\n\n' -%}
    {%- else -%}
        {%- if (message.role == 'user') != (turn.n is even) -%}
            {{- raise_exception('user and assistant must take turns, the user first') -}}
        {%- endif -%}
        {%- if message.role == 'user' -%}
            {%- set text = (turn.opening ~ (message.content or '')) | trim -%}
            {{- bos_token ~ '[INST] ' ~ text ~ ' [/INST]' -}}
            {%- set turn.opening = '' -%}
        {%- else -%}
            {{- ' ' ~ (message.content or '') | trim ~ ' ' ~ eos_token -}}
        {%- endif -%}
        {%- set turn.n = turn.n + 1 -%}
    {%- endif -%}
{%- endfor -%}
)";

// Tokens around the user's turns, EOS behind each answer; the system text stands inside the last
// turn. One blank, which a SentencePiece vocabulary has in a word's first token.
constexpr std::string_view kMistral = R"({%- set turn = namespace(system=none, n=0) -%}
{{- bos_token -}}
{%- for message in messages -%}
    {%- if message.role == 'system' and loop.first -%}
        {%- set turn.system = message.content -%}
    {%- else -%}
        {%- if (message.role == 'user') != (turn.n is even) -%}
            {{- raise_exception('user and assistant must take turns, the user first') -}}
        {%- endif -%}
        {%- if message.role == 'user' -%}
            {{- '[INST] ' -}}
            {{- turn.system ~ '\n\n' if loop.last and turn.system is not none -}}
            {{- message.content ~ '[/INST]' -}}
        {%- else -%}
            {{- ' ' ~ (message.content or '') | trim ~ eos_token -}}
        {%- endif -%}
        {%- set turn.n = turn.n + 1 -%}
    {%- endif -%}
{%- endfor -%}
)";

// The same without blanks, for byte-level vocabularies, whose system text may have tokens of its
// own.
constexpr std::string_view kMistralTekken = R"({%- set turn = namespace(system=none, n=0) -%}
{{- bos_token -}}
{%- for message in messages -%}
    {%- if message.role == 'system' and loop.first -%}
        {%- set turn.system = message.content -%}
    {%- else -%}
        {%- if (message.role == 'user') != (turn.n is even) -%}
            {{- raise_exception('user and assistant must take turns, the user first') -}}
        {%- endif -%}
        {%- if message.role == 'user' -%}
            {{- '[INST]' -}}
            {{- turn.system ~ '\n\n' if loop.last and turn.system is not none -}}
            {{- message.content ~ '[/INST]' -}}
        {%- else -%}
            {{- (message.content or '') ~ eos_token -}}
        {%- endif -%}
        {%- set turn.n = turn.n + 1 -%}
    {%- endif -%}
{%- endfor -%}
)";

constexpr std::string_view kMistralSystem = R"({{- bos_token -}}
{%- for message in messages -%}
    {%- if message.role == 'system' -%}
        {{- '[SYSTEM_PROMPT]' ~ message.content ~ '[/SYSTEM_PROMPT]' -}}
    {%- elif message.role == 'user' -%}
        {{- '[INST]' ~ message.content ~ '[/INST]' -}}
    {%- else -%}
        {{- (message.content or '') ~ eos_token -}}
    {%- endif -%}
{%- endfor -%}
)";

constexpr std::string_view kPhi3 = R"({%- for message in messages -%}
    {{- '<|' ~ message.role ~ '|>\n' ~ (message.content or '') ~ '<|end|>\n' -}}
{%- endfor -%}
{{- '<|assistant|>\n' if add_generation_prompt else eos_token -}}
)";

constexpr std::string_view kPhi4 = R"({%- for message in messages -%}
    {{- '<|im_start|>' ~ message.role ~ '<|im_sep|>' ~ (message.content or '') ~ '<|im_end|>' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|im_start|>assistant<|im_sep|>' -}}
{%- endif -%}
)";

using Words = std::array<std::string_view, 3>;  // empty ones stand for none

struct Row {
    BuiltinChatTemplate carried;
    Words tokens;
    Words architectures;
    uint32_t n_tokens = 0;  // of the vocabulary; 0: any
};

// Where the tokens do not tell a family from another, or are none, the vocabulary's size does.
constexpr Row kRows[] = {
    {{"gemma", kGemma}, {"<start_of_turn>", "<end_of_turn>"}, {"gemma", "gemma2", "gemma3"}},
    {{"phi4", kPhi4}, {"<|im_start|>", "<|im_sep|>", "<|im_end|>"}, {"phi3"}},
    {{"chatml", kChatMl}, {"<|im_start|>", "<|im_end|>"}, {"qwen2", "qwen3"}},
    {{"llama3", kLlama3}, {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}, {"llama"}},
    {{"mistral-v7", kMistralSystem},
     {"[SYSTEM_PROMPT]", "[INST]", "[/INST]"},
     {"mistral", "llama"}},
    {{"mistral", kMistral}, {"[INST]", "[/INST]"}, {"mistral", "llama"}, 32768},
    {{"mistral-tekken", kMistralTekken}, {"[INST]", "[/INST]"}, {"mistral", "llama"}},
    {{"phi3", kPhi3}, {"<|user|>", "<|assistant|>", "<|end|>"}, {"phi3"}},
    {{"llama2", kLlama2}, {"<s>", "</s>"}, {"llama", "mistral"}, 32000},
};

bool is_meant_for(const Row& row, std::string_view architecture) {
    return !architecture.empty() && std::find(row.architectures.begin(), row.architectures.end(),
                                              architecture) != row.architectures.end();
}

bool fits(const Row& row, const Tokenizer& tokenizer) {
    if (row.n_tokens != 0 && row.n_tokens != tokenizer.n_tokens()) return false;
    return std::all_of(row.tokens.begin(), row.tokens.end(), [&](std::string_view token) {
        return token.empty() || tokenizer.find(token);
    });
}

}  // namespace

const BuiltinChatTemplate* choose_builtin_template(std::string_view architecture,
                                                   const Tokenizer& tokenizer) {
    const Row* any = nullptr;
    for (const Row& row : kRows) {
        if (!fits(row, tokenizer)) continue;
        if (is_meant_for(row, architecture)) return &row.carried;
        // A vocabulary's size says little without the architecture.
        if (any == nullptr && row.n_tokens == 0) any = &row;
    }
    return any != nullptr ? &any->carried : nullptr;
}

std::vector<std::string_view> builtin_template_names() {
    std::vector<std::string_view> names;
    for (const Row& row : kRows) names.push_back(row.carried.name);
    return names;
}

const BuiltinChatTemplate* find_builtin_template(std::string_view name) {
    for (const Row& row : kRows) {
        if (row.carried.name == name) return &row.carried;
    }
    return nullptr;
}

}  // namespace kvik
