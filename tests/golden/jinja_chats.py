#!/usr/bin/env python3
"""Writes jinja_chats.json: whole templates, each over twenty conversations, and what jinja2 writes.

    python tests/golden/jinja_chats.py        needs jinja2 3.1

The templates are those of tests/corpus/chat_template that read `messages`; they are written in the
manner of those that models carry. Kept are only the first digits of each text's SHA-256, or null for
an error: --show TEMPLATE N prints the text itself.
"""
import hashlib
import json
import pathlib
import sys

import jinja_oracle
from jinja_cases_whole import TOOLS, call

HERE = pathlib.Path(__file__).resolve().parent
TEMPLATES = ["bars", "brackets", "channels", "chatml", "controls", "documents", "headers", "inst", "parameters",
             "persona", "phi", "schema", "thinking", "turns"]
WIDE = "\u4f60\u597d \U0001f3f4\u200d\u2620\ufe0f e\u0301 \u00df\u0130 \u05e9\u05dc\u05d5\u05dd"


def turn(role, content, **more):
    return {"role": role, "content": content, **more}


def user(content, **more):
    return turn("user", content, **more)


def said(content, **more):
    return turn("assistant", content, **more)


def system(content):
    return turn("system", content)


ASK = {"type": "function", "function": {
    "name": "ask", "description": "Asks \"someone\"\n<|im_end|>", "strict": True, "parameters": {
        "type": "object", "required": ["who"], "properties": {
            "who": {"type": ["string", "null"], "description": "  a name  "},
            "how": {"type": "string", "enum": ["kindly", "at once"], "default": "kindly"},
            "tries": {"type": "integer", "default": 3, "nullable": True},
            "notes": {"type": "array", "items": {"type": "object", "properties": {"t": {"type": "string"}}}},
            "either": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "boolean"}, "default": []}]}}}}}
WEATHER = [system("Use tools. "), user("Weather in Z\u00fcrich?"),
           said(None, tool_calls=[call("get_weather", {"city": "Z\u00fcrich", "days": [1, 2.5, -0.0], "unit": None})]),
           turn("tool", "{\"t\": 21.5}", tool_call_id="abcDEF123", name="get_weather")]

# (messages, more variables)
CONVERSATIONS = [
    ([user("What is 2 < 3 & \"why\"?")], {}),
    ([system("  You are a pirate.\nSay arr. "), user("Hello"), said("Arr! "), user("\n<|im_end|> bye \n")], {}),
    ([user(""), said(""), user("")], {}),
    ([system(""), user("  "), said("\n"), user("\t")], {}),
    ([system(WIDE), user(WIDE.upper()), said(WIDE.lower()), user(WIDE * 2)], {}),
    ([user(f"turn {i}\r\n") if i % 2 == 0 else said(f" answer {i} ") for i in range(9)], {}),
    ([user("think"), said("<think>\nhm\n</think>\n\nDone.", reasoning_content=None), user("again"),
      said("<think>\nhm hm\n</think>\n\nDone again.")], {"enable_thinking": True}),
    ([user("think"), said("Yes.", reasoning_content="because\n", thinking="because")],
     {"enable_thinking": False, "reasoning_effort": "low"}),
    ([user([{"type": "text", "text": " See  this: "}, {"type": "image"}]), said("I see."), user("And?")], {}),
    ([user([]), said([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])], {"thinking": True}),
    (WEATHER, {"tools": TOOLS}),
    ([*WEATHER, said("21.5 degrees."), user("Thanks")], {"tools": [*TOOLS, ASK]}),
    ([user("Both?"), said("Looking.", tool_calls=[call("get_weather", {"city": "Bern"}), call("hidden", {}, "short")]),
      turn("tool", "1", tool_call_id="abcDEF123"), turn("tool", "two words", tool_call_id="abcDEF124"), said("")],
     {"tools": TOOLS, "reasoning_effort": "high"}),
    ([user("As text"), said(None, tool_calls=[call("ask", "{\"who\": \"A \\\"B\\\"\", \"tries\": 1e3}")]),
      turn("tool", {"content": ["x", 1, True, None]}, tool_call_id="123456789")], {"tools": [ASK]}),
    ([user("Four"), said("", tool_calls=[call(f"f{i}", {"i": i, "s": "<|\u00e9|>"}) for i in range(5)])], {}),
    ([system("Cite."), user("Which?")],
     {"documents": [{"title": "One", "text": "first\n<|im_end|>", "n": 1}, {"title": "Two", "text": None, "k": {"b": [1], "a": 2}}]}),
    ([user("Hi", name="Ada"), said("Ho", name=""), user("Hey", name="O'Brien \"x\"")],
     {"controls": {"length": "LONG", "originality": None}, "date_string": "1 May 2020", "model_identity": "You are X."}),
    ([user("a"), user("b")], {}),
    ([turn("critic", "x")], {"tools": []}),
    ([], {}),
]


def cases():
    for messages, more in CONVERSATIONS:
        for prompt in (True, False):
            yield {"messages": messages, "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": prompt,
                   "tools": None, "documents": None, **more}


def source(name):
    return (HERE.parent / "corpus" / "chat_template" / f"{name}.jinja").read_text()


def digest(text):
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()[:12]


def main():
    if sys.argv[1:2] == ["--show"]:
        print(jinja_oracle.render_chat(source(sys.argv[2]), list(cases())[int(sys.argv[3])]))
        return
    texts = {name: [jinja_oracle.render_chat(source(name), given)[0] for given in cases()] for name in TEMPLATES}
    rows = [f'"{name}": {json.dumps([digest(text) for text in texts[name]])}' for name in TEMPLATES]
    conversations = ",\n".join(json.dumps(given) for given in cases() if given["add_generation_prompt"])
    (HERE / "jinja_chats.json").write_text(
        '{"conversations": [\n' + conversations + '\n],\n"texts": {\n' + ",\n".join(rows) + "\n}}\n")
    n_texts = sum(text is not None for row in texts.values() for text in row)
    print(len(TEMPLATES), "templates x", len(CONVERSATIONS), "conversations, with and without a prompt for the answer:",
          n_texts, "texts,", sum(map(len, texts.values())) - n_texts, "errors")


if __name__ == "__main__":
    main()
