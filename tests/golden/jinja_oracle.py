"""jinja2 as chat templates find it: what Transformers sets up, and nothing more."""
import copy
import datetime
import json

import jinja2
import jinja2.ext
import jinja2.sandbox

NOW = datetime.datetime(2024, 7, 26, 13, 4, 5)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                      sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


class Generation(jinja2.ext.Extension):
    """The tag that marks a model's own words for training."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_said"), [], [], body).set_lineno(line)

    def _said(self, caller):
        return caller()


def environment(sandbox=jinja2.sandbox.ImmutableSandboxedEnvironment):
    made = sandbox(trim_blocks=True, lstrip_blocks=True,
                   extensions=["jinja2.ext.loopcontrols", Generation])
    made.filters["tojson"] = tojson
    made.filters["from_json"] = json.loads
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = NOW.strftime
    return made


def as_transformers_hands_on(message):
    """A field that is none is left out, and what was thought is there under two names."""
    message = {key: value for key, value in message.items() if value is not None}
    thought = next((message[key] for key in ("reasoning_content", "thinking", "reasoning") if key in message), None)
    return message if thought is None else {"thinking": thought, **message, "reasoning_content": thought}


def render_chat(template, given):
    """As render, but `messages` are what a client gives."""
    return render(template, {**given, "messages": [as_transformers_hands_on(m) for m in given["messages"]]})


def render(template, given):
    """The text and None, or None and the error."""
    try:
        return environment().from_string(template).render(**copy.deepcopy(given)), None
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"
