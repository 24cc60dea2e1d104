"""Whole chat templates for jinja_cases.py, in the manner of those that models carry, and conversations.

Every template is given every conversation; some refuse some.
"""

CHATML = r"""
{%- for message in messages %}
    {%- if loop.first and message['role'] != 'system' %}
        {{- '<|im_start|>system\nYou answer briefly.<|im_end|>\n' }}
    {%- endif %}
    {{- '<|im_start|>' + message['role'] + '\n' + (message['content'] or '') + '<|im_end|>' + '\n' }}
{%- endfor %}
{% if add_generation_prompt %}
{{ '<|im_start|>assistant\n' }}
{% endif %}
"""

INST = r"""
{{ bos_token }}
{%- if messages and messages[0].role == 'system' %}
    {%- set system = messages[0].content %}
    {%- set turns = messages[1:] %}
{%- else %}
    {%- set system = none %}
    {%- set turns = messages %}
{%- endif %}
{%- for m in turns if m.role in ('user', 'assistant') %}
    {%- if (m.role == 'user') != (loop.index0 is even) %}
        {{- raise_exception('user and assistant must alternate, got ' ~ m.role ~ ' at ' ~ loop.index) }}
    {%- endif %}
    {%- if m.role == 'user' %}
        {%- if loop.last and system is not none %}
            {{- ' [INST] ' + system + '\n\n' + m.content + ' [/INST]' }}
        {%- else %}
            {{- ' [INST] ' ~ m.content ~ ' [/INST]' }}
        {%- endif %}
    {%- else %}
        {{- ' ' ~ (m.content or '') | trim ~ eos_token }}
    {%- endif %}
{%- endfor %}
"""

HEADERS = r"""
{{- bos_token }}
{%- if custom_tools is defined %}{% set tools = custom_tools %}{% endif %}
{%- if not tools is defined %}{% set tools = none %}{% endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "01 Jan 2024" %}
    {%- endif %}
{%- endif %}
{#- The system text comes first whether or not it is given. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\n\n" }}
{%- if tools is not none %}
    {{- "Environment: ipython\n" }}
    {{- "Tools: " + (tools | map(attribute='function.name') | reject('equalto', 'hidden') | join(", ")) + "\n\n" }}
{%- endif %}
{{- "Today Date: " + date_string + "\n\n" }}
{%- if tools is not none %}
    {{- "You may call these functions; answer with JSON alone.\n\n" }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\n\n" }}
    {%- endfor %}
{%- endif %}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' + message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if message.tool_calls|length != 1 %}
            {{- raise_exception("one call at a time, not " ~ message.tool_calls|length) }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' -}}
        {{- '{"name": "' + tool_call.name + '", ' }}
        {{- '"parameters": ' }}
        {{- tool_call.arguments | tojson }}
        {{- "}" }}
        {{- "<|eot_id|>" }}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {{- "<|start_header_id|>ipython<|end_header_id|>\n\n" }}
        {%- if message.content is mapping or message.content is iterable and message.content is not string %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}
"""

THINKING = r"""
{%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- if messages[0].role == 'system' %}{{- messages[0].content + '\n\n' }}{%- endif %}
    {{- "# Tools\n\nSignatures are inside <tools></tools>:\n<tools>" }}
    {%- for tool in tools %}
        {{- "\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\n</tools>\n\nCall as <tool_call>\n{\"name\": <name>, \"arguments\": <object>}\n</tool_call><|im_end|>\n" }}
{%- elif messages[0].role == 'system' %}
    {{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
{%- endif %}
{%- set ns = namespace(searching=true, last_query=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.searching and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.searching = false %}
        {%- set ns.last_query = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}{%- set content = message.content %}{%- else %}{%- set content = '' %}{%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning = message.reasoning_content %}
        {%- elif '</think>' in content %}
            {%- set reasoning = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query and (loop.last or (not loop.last and reasoning)) %}
            {{- '<|im_start|>' + message.role + '\n<think>\n' + reasoning.strip('\n') + '\n</think>\n\n' + content.lstrip('\n') }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}{{- '\n' }}{%- endif %}
                {%- if tool_call.function %}{%- set tool_call = tool_call.function %}{%- endif %}
                {{- '<tool_call>\n{"name": "' }}
                {{- tool_call.name }}
                {{- '", "arguments": ' }}
                {%- if tool_call.arguments is string %}
                    {{- tool_call.arguments }}
                {%- else %}
                    {{- tool_call.arguments | tojson }}
                {%- endif %}
                {{- '}\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}{{- '<|im_start|>user' }}{%- endif %}
        {{- '\n<tool_response>\n' }}
        {{- content }}
        {{- '\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}{{- '<|im_end|>\n' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}
{%- endif %}
"""

TURNS = r"""
{{ bos_token }}
{%- set ns = namespace(prefix='', n=0) -%}
{%- for message in messages -%}
    {%- set text -%}
        {%- if message['content'] is string -%}
            {{ message['content'] | trim }}
        {%- elif message['content'] is iterable -%}
            {%- for item in message['content'] -%}
                {%- if item['type'] == 'image' -%}<image>{%- elif item['type'] == 'text' -%}{{ item['text'] | trim }}{%- endif -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endset -%}
    {%- if message.role == 'system' -%}
        {%- set ns.prefix = text + '\n\n' -%}
    {%- else -%}
        {%- if (message['role'] == 'user') != (ns.n % 2 == 0) -%}
            {{ raise_exception("roles must alternate user/assistant/user/assistant/...") }}
        {%- endif -%}
        {{ '<start_of_turn>' + ('model' if message.role == 'assistant' else message.role) + '\n' + ns.prefix + text }}
        {{ '<end_of_turn>\n' }}
        {%- set ns.prefix = '' -%}{%- set ns.n = ns.n + 1 -%}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{ '<start_of_turn>model\n' }}
{%- endif -%}
"""

BARS = r"""
{%- if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}
{%- set ns = namespace(is_first=false, is_tool=false, system_prompt='', is_first_sp=true) %}
{%- for message in messages %}
    {%- if message['role'] == 'system' %}
        {%- if ns.is_first_sp %}
            {%- set ns.system_prompt = ns.system_prompt + message['content'] %}
            {%- set ns.is_first_sp = false %}
        {%- else %}
            {%- set ns.system_prompt = ns.system_prompt + '\n\n' + message['content'] %}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}{{ ns.system_prompt }}
{%- for message in messages %}
    {%- if message['role'] == 'user' %}
        {%- set ns.is_tool = false -%}
        {{- '<|User|>' + (message['content'] if message['content'] is string else message['content']|map(attribute='text')|select('defined')|join('')) }}
    {%- endif %}
    {%- if message['role'] == 'assistant' and 'tool_calls' in message %}
        {%- set ns.is_tool = false -%}
        {%- for tool in message['tool_calls'] %}
            {%- if loop.first %}
                {{- '<|Assistant|>' + (message['content'] or '') + '<|calls|><|call|>' + tool['type'] + '<|sep|>' + tool['function']['name'] + '\n```json\n' + tool['function']['arguments']|tojson + '\n```<|call_end|>' }}
            {%- else %}
                {{- '\n<|call|>' + tool['type'] + '<|sep|>' + tool['function']['name'] + '\n```json\n' + tool['function']['arguments']|tojson + '\n```<|call_end|>' }}
            {%- endif %}
        {%- endfor %}
        {{- '<|calls_end|>' + eos_token }}
    {%- elif message['role'] == 'assistant' %}
        {%- set content = message['content'] %}
        {%- if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}
        {{- ('<|outputs_end|>' if ns.is_tool else '<|Assistant|>') + content + eos_token }}
        {%- set ns.is_tool = false -%}
    {%- endif %}
    {%- if message['role'] == 'tool' %}
        {{- ('\n' if ns.is_tool else '<|outputs|>') + '<|output|>' + message['content'] + '<|output_end|>' }}
        {%- set ns.is_tool = true -%}
    {%- endif %}
{%- endfor -%}
{%- if ns.is_tool %}{{ '<|outputs_end|>' }}{% endif %}
{%- if add_generation_prompt and not ns.is_tool %}{{ '<|Assistant|>' }}{% endif %}
"""

ENDS = r"""
{% for message in messages %}
{% if message['role'] == 'system' and message['content'] %}
{{ '<|system|>\n' + message['content'] + '<|end|>\n' }}
{% elif message['role'] == 'user' and message['content'] is string %}
{{ '<|user|>\n' + message['content'] + '<|end|>\n' }}
{% elif message['role'] == 'assistant' and message['content'] %}
{{ '<|assistant|>\n' + message['content'] + '<|end|>\n' }}
{% endif %}
{% endfor %}
{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}
"""

SCHEMA = r"""
{%- macro type_of(spec, level) -%}
    {%- if spec.enum is defined -%}
        {{- spec.enum | map('tojson') | join(' | ') -}}
    {%- elif spec.type == 'array' -%}
        {{- type_of(spec['items'], level) if spec['items'] else 'any' }}[]
    {%- elif spec.type == 'object' and spec.properties -%}
        {{- '{\n' -}}
        {%- for name, inner in spec.properties.items() -%}
            {{- '  ' * (level + 1) ~ name ~ ('' if name in (spec.required or []) else '?') ~ ': ' -}}
            {{- type_of(inner, level + 1) ~ ',' -}}
            {%- if inner.description %}{{ ' // ' ~ inner.description }}{% endif -%}
            {{- '\n' -}}
        {%- endfor -%}
        {{- '  ' * level ~ '}' -}}
    {%- elif spec.type is string -%}
        {{- {'integer': 'number', 'boolean': 'bool'}.get(spec.type, spec.type) -}}
    {%- else -%}
        any
    {%- endif -%}
{%- endmacro -%}
<|start|>system<|message|>
{%- if strftime_now is defined %}
Current date: {{ strftime_now('%Y-%m-%d') }}

{% endif %}
{%- if tools %}
namespace functions {
{% for tool in tools %}
{%- set f = tool.function if tool.function is defined else tool %}
// {{ f.description | default('no description', true) | trim | replace('\n', '\n// ') }}
type {{ f.name }} = (_: {{ type_of(f.parameters, 0) }}) => any;

{% endfor %}
}
{%- endif %}
{{- '<|end|>' }}
{%- set last = messages | selectattr('role', 'ne', 'system') | list | last %}
{%- for m in messages %}
    {%- if m.role == 'assistant' and m.reasoning_content is defined and m == last %}
        {{- '<|start|>assistant<|channel|>analysis<|message|>' ~ m.reasoning_content ~ '<|end|>' }}
    {%- endif %}
    {%- if m.content is string and m.content | trim | length > 0 %}
        {{- '<|start|>' ~ m.role ~ '<|message|>' ~ m.content ~ '<|end|>' }}
    {%- endif %}
    {%- for call in m.tool_calls or [] %}
        {{- '<|start|>assistant to=functions.' ~ call.function.name ~ '<|message|>' ~ call.function.arguments | tojson(separators=(',', ':')) ~ '<|call|>' }}
    {%- endfor %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|start|>assistant' }}{% endif %}
"""

PARAMETERS = r"""
{%- macro extra(spec, known) %}
    {%- if spec is mapping %}
        {%- for key in spec | reject("in", known) %}
            {%- set name = key | replace("-", "_") | replace(" ", "_") | replace("$", "") %}
            {%- if spec[key] is mapping %}
                {{- '\n<' ~ name ~ '>' ~ (spec[key] | tojson | safe) ~ '</' ~ name ~ '>' }}
            {%- else %}
                {{- '\n<' ~ name ~ '>' ~ (spec[key] | string) ~ '</' ~ name ~ '>' }}
            {%- endif %}
        {%- endfor %}
    {%- endif %}
{%- endmacro %}
{%- if messages[0]["role"] == "system" %}
    {%- set system = messages[0]["content"] %}
    {%- set rest = messages[1:] %}
{%- else %}
    {%- set rest = messages %}
{%- endif %}
{%- if not tools is defined %}{%- set tools = [] %}{%- endif %}
{%- if system is defined %}{{- "<|im_start|>system\n" + system }}{%- endif %}
{%- if tools is iterable and tools | length > 0 %}
    {{- "\n\n<tools>" }}
    {%- for tool in tools %}
        {%- if tool.function is defined %}{%- set tool = tool.function %}{%- endif %}
        {{- "\n<function>\n<name>" ~ tool.name ~ "</name>" }}
        {%- if tool.description is defined %}{{- '\n<description>' ~ (tool.description | trim) ~ '</description>' }}{%- endif %}
        {{- '\n<parameters>' }}
        {%- if tool.parameters is defined and tool.parameters is mapping and tool.parameters.properties is defined %}
            {%- for name, fields in tool.parameters.properties|items %}
                {{- '\n<parameter>\n<name>' ~ name ~ '</name>' }}
                {%- if fields.type is defined %}{{- '\n<type>' ~ (fields.type | string) ~ '</type>' }}{%- endif %}
                {{- extra(fields, ['name', 'type', 'description']) }}
                {{- '\n</parameter>' }}
            {%- endfor %}
        {%- endif %}
        {{- extra(tool.parameters, ['type', 'properties']) }}
        {{- '\n</parameters>\n</function>' }}
    {%- endfor %}
    {{- "\n</tools>" }}
{%- endif %}
{%- if system is defined %}{{- '<|im_end|>\n' }}{%- endif %}
{%- for message in rest %}
    {%- if message.role == "assistant" and message.tool_calls is defined and message.tool_calls is iterable and message.tool_calls | length > 0 %}
        {{- '<|im_start|>' + message.role }}
        {%- if message.content is defined and message.content is string and message.content | trim | length > 0 %}
            {{- '\n' + message.content | trim + '\n' }}
        {%- endif %}
        {%- for call in message.tool_calls %}
            {{- '\n<tool_call>\n<function=' + call.function.name + '>\n' }}
            {%- for name, value in call.function.arguments|items %}
                {{- '<parameter=' + name + '>\n' }}
                {%- set value = value if value is string else value | tojson | safe %}
                {{- value }}
                {{- '\n</parameter>\n' }}
            {%- endfor %}
            {{- '</function>\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.previtem and loop.previtem.role != "tool" %}{{- '<|im_start|>user\n' }}{%- endif %}
        {{- '<tool_response>\n' ~ message.content ~ '\n</tool_response>\n' }}
        {%- if not loop.last and loop.nextitem.role != "tool" %}
            {{- '<|im_end|>\n' }}
        {%- elif loop.last %}
            {{- '<|im_end|>\n' }}
        {%- endif %}
    {%- elif message.content is string %}
        {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}
"""

BRACKETS = r"""
{%- set default_system = 'You are helpful. The date is ' + strftime_now('%Y-%m-%d') + '.' %}
{{- bos_token }}
{%- if messages[0]['role'] == 'system' %}
    {%- if messages[0]['content'] is string %}
        {%- set system = messages[0]['content'] %}
    {%- else %}
        {%- set system = messages[0]['content'][0]['text'] %}
    {%- endif %}
    {%- set turns = messages[1:] %}
{%- else %}
    {%- set system = default_system %}
    {%- set turns = messages %}
{%- endif %}
{{- '[SYSTEM_PROMPT]' + system + '[/SYSTEM_PROMPT]' }}
{%- set users = turns | selectattr('role', 'equalto', 'user') | list %}
{%- for message in turns %}
    {%- if message['role'] == 'user' %}
        {%- if tools is not none and tools is defined and message == users[-1] %}
            {{- '[AVAILABLE_TOOLS] [' }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != 'return' %}
                    {%- if val is string %}
                        {{- '"' + key + '": "' + val + '"' }}
                    {%- else %}
                        {{- '"' + key + '": ' + val|tojson }}
                    {%- endif %}
                    {%- if not loop.last %}{{- ', ' }}{%- endif %}
                {%- endfor %}
                {{- '}}' }}
                {%- if not loop.last %}{{- ', ' }}{%- else %}{{- ']' }}{%- endif %}
            {%- endfor %}
            {{- '[/AVAILABLE_TOOLS]' }}
        {%- endif %}
        {%- if message['content'] is string %}
            {{- '[INST]' + message['content'] + '[/INST]' }}
        {%- else %}
            {{- '[INST]' }}
            {%- for block in message['content'] %}
                {%- if block['type'] == 'text' %}{{- block['text'] }}
                {%- elif block['type'] in ['image', 'image_url'] %}{{- '[IMG]' }}
                {%- else %}{{- raise_exception('only text and images') }}
                {%- endif %}
            {%- endfor %}
            {{- '[/INST]' }}
        {%- endif %}
    {%- elif message['role'] == 'assistant' and message.tool_calls %}
        {{- '[TOOL_CALLS] [' }}
        {%- for call in message.tool_calls %}
            {%- set out = call.function|tojson %}
            {{- out[:-1] }}
            {%- if not call.id is defined or call.id|length != 9 %}
                {{- raise_exception('call ids have nine letters or digits') }}
            {%- endif %}
            {{- ', "id": "' + call.id + '"}' }}
            {{- ', ' if not loop.last else ']' + eos_token }}
        {%- endfor %}
    {%- elif message['role'] == 'assistant' %}
        {{- message['content'] + eos_token }}
    {%- elif message['role'] == 'tool' %}
        {{- '[TOOL_RESULTS] {"content": ' + message.content|string + ', "call_id": "' + message.tool_call_id + '"}[/TOOL_RESULTS]' }}
    {%- else %}
        {{- raise_exception('no role ' + message['role']) }}
    {%- endif %}
{%- endfor %}
"""

PERSONA = r"""
{%- set system_prefix = "<|system_start|>" -%}
{%- for m in messages if m.role == 'system' -%}
{{ system_prefix }}{{ m.content | indent(2, first=True) }}{{ '\n' }}
{%- else -%}
{{ system_prefix }}none
{%- endfor -%}
<|system_end|>
{% for m in messages if m.role != 'system' %}
{% set who = {'user': 'U', 'assistant': 'A', 'tool': 'T'}.get(m.role, m.role | upper) %}
{{ '%02d' % loop.index }} {{ who }}{{ '*' if loop.last }}: {% filter trim %}  {{ m.content if m.content is string else m.content | tojson }}  {% endfilter %}

{% if m.role == 'assistant' %}{% generation %}{{ eos_token }}{% endgeneration %}{% endif %}
{% endfor %}
{{ messages | map(attribute='role') | unique | sort | join(',') }}
{{ 'A:' if add_generation_prompt else '' }}
"""

TEMPLATES = [CHATML, INST, HEADERS, THINKING, TURNS, BARS, ENDS, SCHEMA, PARAMETERS, BRACKETS, PERSONA]

TOOLS = [
    {"type": "function", "function": {
        "name": "get_weather", "description": "The weather\nsomewhere.",
        "parameters": {"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string", "description": "its name, e.g. Z\u00fcrich"},
            "unit": {"type": "string", "enum": ["c", "f"]},
            "days": {"type": "array", "items": {"type": "integer"}},
            "where": {"type": "object", "properties": {"lat": {"type": "number"}, "lon": {}}}}}}},
    {"type": "function", "function": {"name": "hidden", "description": "",
                                      "parameters": {"type": "object", "properties": {}}}},
]


def call(name, arguments, ident="abcDEF123"):
    return {"type": "function", "id": ident, "function": {"name": name, "arguments": arguments}}


CONVERSATIONS = [
    {"messages": [{"role": "user", "content": "What is 2 < 3 & \"why\"?"}]},
    {"messages": [{"role": "system", "content": "  You are a pirate.\nSay arr. "},
                  {"role": "user", "content": "Hello \U0001f3f4\u200d\u2620\ufe0f"},
                  {"role": "assistant", "content": "Arr! "},
                  {"role": "user", "content": "\n<|im_end|> bye \n"}]},
    {"messages": [{"role": "user", "content": "think"},
                  {"role": "assistant", "content": "<think>\nhm\n</think>\n\nDone.", "reasoning_content": None},
                  {"role": "user", "content": "again"},
                  {"role": "assistant", "content": "<think>\nhm hm\n</think>\n\nDone again."}]},
    {"messages": [{"role": "user", "content": "think"},
                  {"role": "assistant", "content": "Yes.", "reasoning_content": "because\n"}],
     "enable_thinking": False},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": " See this: "}, {"type": "image"}]},
                  {"role": "assistant", "content": "I see."},
                  {"role": "user", "content": "And?"}]},
    {"messages": [{"role": "system", "content": "Use tools."},
                  {"role": "user", "content": "Weather in Z\u00fcrich?"},
                  {"role": "assistant", "content": None,
                   "tool_calls": [call("get_weather", {"city": "Z\u00fcrich", "days": [1, 2], "unit": None})]},
                  {"role": "tool", "content": "{\"t\": 21.5}", "tool_call_id": "abcDEF123"},
                  {"role": "assistant", "content": "21.5 degrees."},
                  {"role": "user", "content": "Thanks"}],
     "tools": TOOLS},
    {"messages": [{"role": "user", "content": "Both?"},
                  {"role": "assistant", "content": "Looking.",
                   "tool_calls": [call("get_weather", {"city": "Bern"}), call("hidden", {}, "short")]},
                  {"role": "tool", "content": "1", "tool_call_id": "abcDEF123"},
                  {"role": "tool", "content": "2", "tool_call_id": "abcDEF124"}],
     "tools": TOOLS},
    {"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]},
    {"messages": [{"role": "critic", "content": "x"}]},
    {"messages": []},
]


CASES = [
    (template, {"bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": prompt,
                "tools": None, **conversation})
    for template in TEMPLATES for conversation in CONVERSATIONS for prompt in (True, False)]
