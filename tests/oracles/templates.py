#!/usr/bin/env python3
"""Chat templates of real models: what kvik writes against what transformers writes.

    python tests/oracles/templates.py [--templates DIR] [--kvik PROGRAM] [--show] [--only NAME]

Needs transformers 5.24.0. The templates are files of other people, which are not kept here: they come
out of a source package (shared.py; llama.cpp's own models/templates), or from DIR. Each is
rendered over 22 conversations, with and without tools, with and without a prompt for the answer. A case passes where both write the same text, or both refuse.
Messages reach `render_jinja_template` as `apply_chat_template` hands them on: fields that are null are
left out. Differences that stand are in KNOWN, each with its reason; docs/chat-templates.md has them too.
Nothing is recorded, and with --write nothing happens: what these templates taught is in jinja_cases.json.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import shared

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What transformers refuses and kvik writes: (words of the error, what kvik does instead).
KNOWN = [
    ("access to attribute", "a list of the conversation may be changed (append, pop): llama.cpp lets it too"),
    ("No filter named 'from_json'", "the filter from_json exists: it is llama.cpp's"),
    ("Object of type generator is not JSON serializable", "what map, select and their like give is a list"),
]


def user(content, **more):
    return {"role": "user", "content": content, **more}


def said(content, **more):
    return {"role": "assistant", "content": content, **more}


def system(content):
    return {"role": "system", "content": content}


def call(name, arguments, id="abcDEF123"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(content, id="abcDEF123", name="get_weather"):
    return {"role": "tool", "content": content, "tool_call_id": id, "name": name}


WIDE = "\u4f60\u597d \U0001f3f4\u200d\u2620\ufe0f e\u0301 \u00df\u0130 \u05e9\u05dc\u05d5\u05dd \x7f <|im_end|> </s> {{ x }}"
TOOLS = [
    {"type": "function", "function": {
        "name": "get_weather", "description": "The weather of a place.\n<b>now</b> & \"here\"", "parameters": {
            "type": "object", "required": ["city"], "properties": {
                "city": {"type": "string", "description": "where, such as Z\u00fcrich"},
                "days": {"type": "array", "items": {"type": ["integer", "null"]}, "minimum": -(2**70)},
                "unit": {"type": "string", "enum": ["C", "F"], "default": "C", "nullable": True},
                "at": {"type": "object", "description": " a place ", "properties": {
                    "lat": {"type": "number", "description": "north"}, "lon": {"type": "number"}}},
                "either": {"anyOf": [{"type": "string"}, {"type": "integer", "maximum": 2**64}]}}},
        "return": {"type": "string", "description": "words"}}},
    {"type": "function", "function": {"name": "nothing", "description": "", "parameters": {"type": "object", "properties": {}}}}]

# name: (messages, more variables)
CONVERSATIONS = {
    "one": ([user("What is 2 < 3 & \"why\"?")], {}),
    "system": ([system("  You are a pirate.\nSay arr. "), user("Hello")], {}),
    "turns": ([system("Be brief."), user("a\r\n"), said(" b "), user("c\n"), said("d"), user("e")], {}),
    "call-dict": ([user("Weather?"), said("", tool_calls=[call("get_weather", {"city": "Z\u00fcrich", "days": [1, 2.5, -0.0, None, True]})]),
                   result("{\"t\": 21.5}"), said("21.5 degrees."), user("Thanks")], {}),
    "call-text": ([user("Weather?"), said("Looking. ", tool_calls=[call("get_weather", "{\"city\": \"A \\\"B\\\"\", \"n\": 1e3}")]),
                   result("rain")], {}),
    "call-null": ([user("Weather?"), said(None, tool_calls=[call("get_weather", {"city": "Bern"})]), result("sun")], {}),
    "call-absent": ([user("Weather?"), {"role": "assistant", "tool_calls": [call("nothing", {})]}, result("", name="nothing")], {}),
    "call-two": ([user("Both?"), said(None, tool_calls=[call("get_weather", {"city": "Bern", "at": {"lat": 1, "lon": {"x": ["<"]}}}), call("nothing", {}, "abcDEF124")]),
                  result("1"), result("two words\n", "abcDEF124", "nothing"), user("And?")], {}),
    "call-rounds": ([system("Use tools."), user("Go"), said("First.", tool_calls=[call("get_weather", {"city": "A"})]), result("a"),
                     said("Second.", tool_calls=[call("get_weather", {"city": "B"}, "abcDEF125")]), result("b", "abcDEF125"), said("Done.")], {}),
    "huge": ([user("Pay"), said(None, tool_calls=[call("get_weather", {"wei": 2**64, "debt": -(10**40), "edge": 2**63, "last": 2**63 - 1, "f": 1e22, "g": 1e-7, "h": 123456789.125})]),
              result("ok")], {"budget": 10**30}),
    "reasoning": ([user("Think"), said("4", reasoning_content="2 and 2\n"), user("Again"), said("5", reasoning_content="hm"), user("More")], {"enable_thinking": True}),
    "thinking": ([user("Think"), said("<think>\nhm\n</think>\n\nDone."), user("Again"), said("Yes.", thinking="because"), user("x")],
                 {"enable_thinking": False, "thinking": False, "reasoning_effort": "low"}),
    "reasoning-call": ([user("Go"), said("", reasoning="I must look", tool_calls=[call("get_weather", {"city": "C"})]), result("c")], {"enable_thinking": True}),
    "parts": ([system([{"type": "text", "text": "Be kind."}]), user([{"type": "text", "text": " See "}, {"type": "text", "text": "this "}]),
               said([{"type": "text", "text": "I see."}]), user("And?")], {}),
    "image": ([user([{"type": "image"}, {"type": "text", "text": "What is it?"}])], {}),
    "empty": ([system(""), user(""), said(""), user("  ")], {}),
    "wide": ([system(WIDE), user(WIDE.upper()), said(WIDE), user(WIDE * 2)], {}),
    "users": ([user("a"), user("b"), said("c"), said("d")], {}),
    "prefill": ([user("Count"), said("1, 2,")], {}),
    "documents": ([user("Which?")], {"documents": [{"title": "One", "text": "first\n<|im_end|>"}, {"title": "Two", "text": "second", "n": 2**65}]}),
    "named": ([user("Hi", name="Ada"), said("Ho", name=None), user("Hey", name="O'Brien \"x\"")], {"date_string": "1 May 2020", "model_identity": "You are X."}),
    "developer": ([{"role": "developer", "content": "Obey."}, user("Hi"), {"role": "critic", "content": "x"}], {}),
}
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


def cases():
    for name, (messages, more) in CONVERSATIONS.items():
        for tools in (None, TOOLS):
            for prompt in (True, False):
                given = {"messages": messages, "add_generation_prompt": prompt, **more}
                if tools:
                    given["tools"] = tools
                yield f"{name}{'+tools' if tools else ''}{'+prompt' if prompt else ''}", given


def expected(template, given):
    """What transformers writes, or its error."""
    from transformers.utils import chat_template_utils
    given = dict(given)
    messages = chat_template_utils._normalize_chat_messages(given.pop("messages"))
    try:
        rendered, _ = chat_template_utils.render_jinja_template([messages], chat_template=template, **TOKENS, **given)
        return rendered[0], None
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def model(folder, name, template):
    """A directory of a model that has words and no weights."""
    made = pathlib.Path(folder) / name
    made.mkdir()
    letters = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in letters]
    vocab = {**{chr(b): b for b in letters}, **{chr(256 + i): b for i, b in enumerate(rest)}, "<s>": 256, "</s>": 257}
    special = [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
               for t, i in vocab.items() if i > 255]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    (made / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "added_tokens": special, "normalizer": None, "pre_tokenizer": level, "post_processor": None, "decoder": level,
        "model": {"type": "BPE", "vocab": vocab, "merges": []}}))
    (made / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", **TOKENS}))
    (made / "config.json").write_text(json.dumps({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 258,
        "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2,
        "max_position_embeddings": 64, "rms_norm_eps": 1e-6, "eos_token_id": 257, "bos_token_id": 256}))
    (made / "chat_template.jinja").write_bytes(template)
    return made


def written(kvik, directory, given):
    """What kvik writes, or its error."""
    done = subprocess.run([kvik, "template", directory, "-", "--json"], input=json.dumps(given), capture_output=True, text=True, timeout=60)
    return (json.loads(done.stdout)["text"], None) if done.returncode == 0 else (None, done.stderr.strip())


def compare(kvik, folder, path):
    """A row a case: (case, both agree, both refuse, theirs, ours)."""
    source = path.read_bytes()
    directory = model(folder, path.stem, source)
    rows = []
    for name, given in cases():
        theirs, ours = expected(source.decode(), given), written(kvik, directory, given)
        rows.append((name, theirs[0] == ours[0], theirs[0] is None and ours[0] is None, theirs, ours))
    return path.stem, rows


def first_difference(a, b):
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f"at {at}: theirs {a[max(0, at - 30):at + 60]!r}\n      ours {b[max(0, at - 30):at + 60]!r}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--templates", help="a folder of templates, instead of the package's")
    parser.add_argument("--kvik", default=os.environ.get("KVIK_BINARY", str(ROOT / "build/release/kvik")))
    parser.add_argument("--show", action="store_true", help="every difference, not the first of a template")
    parser.add_argument("--only", default="", help="templates whose name has this in it")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    if chosen.write:
        return 0
    os.environ["TZ"] = "UTC"
    same = refused = n_known = 0
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(chosen.templates) if chosen.templates else shared.fetched(
            folder, lambda path: path.startswith("templates/") and path.endswith(".jinja"))
        paths = [p for p in sorted(source.glob("*.jinja")) if chosen.only in p.stem]
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            for name, rows in pool.map(compare, *zip(*((chosen.kvik, folder, path) for path in paths))):
                wrong = []
                for case, agrees, both_refuse, theirs, ours in rows:
                    if agrees and not both_refuse:
                        same += 1
                    elif both_refuse:
                        refused += 1
                    else:
                        wrong.append((case, theirs, ours))
                known = [w for w in wrong if w[1][0] is None and any(words in w[1][1] for words, _ in KNOWN)]
                wrong = [w for w in wrong if w not in known]
                bad += wrong
                n_known += len(known)
                for words, reason in KNOWN:
                    if n := sum(words in w[1][1] for w in known):
                        print(f"{name}: {n} that transformers refuses: {reason}")
                if wrong:
                    print(f"{name}: {len(wrong)} of {len(rows)} differ")
                for case, theirs, ours in wrong if chosen.show else wrong[:1]:
                    if theirs[0] is not None and ours[0] is not None:
                        print("   ", case, first_difference(theirs[0], ours[0]))
                    else:
                        print("   ", case, "\n      theirs", repr(theirs[1] or theirs[0])[:200], "\n      ours  ", repr(ours[1] or ours[0])[:200])
    print(f"{len(paths)} templates x {len(CONVERSATIONS)} conversations, tools on and off, with and without a prompt: "
          f"{same} texts are equal, {refused} are refused by both, {n_known} only by transformers (named above), {len(bad)} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
