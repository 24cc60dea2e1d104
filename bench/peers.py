"""The engines that bench/versus.py measures: how each is started, asked and read.

A side has a name, has(test), measure(tests, round) -> {test: Speed}, and a note on how it was measured
where that differs from the rest. Servers are started on a free port of this machine and ended with the
run. Standard library only.
"""
import collections
import contextlib
import json
import os
import pathlib
import random
import shlex
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

Test = collections.namedtuple("Test", "kind n depth")  # kind: pp, tg, rows
Speed = collections.namedtuple("Speed", "tokens_per_s percent of", defaults=(None, ""))

TIMEOUT_S = 1800   # of a program or an answer
STARTING_S = 120   # of a server
LEAST_TOKENS = 8   # that an answer must have for its speed to mean anything
WORDS = ("river stone window garden letter music silver morning paper train market winter bridge "
         "forest island mirror engine butter candle valley").split()


def by_depth(tests):
    """depth -> its tests: what one start of a program can measure."""
    groups = {}
    for test in tests:
        groups.setdefault(test.depth, []).append(test)
    return groups


def output_of(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S,
                              stdin=subprocess.DEVNULL)
    except OSError as error:
        sys.exit(f"{command[0]} cannot be run: {error.strerror}")
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


# --- programs that report on themselves

def kvik_flags(tests, depth):
    """The tests of one depth as flags of `kvik bench`."""
    of = {test.kind: test.n for test in tests}
    widths = [test.n for test in tests if test.kind == "rows"]
    flags = ["-p", of.get("pp", 0), "-n", of.get("tg", 0), "-d", depth, "-r", 3]
    if widths:
        kinds = [kind for kind in ("pp", "tg", "rows") if kind in of]
        flags += ["--test", ",".join(kinds), "-b", ",".join(map(str, widths))]
    return [str(flag) for flag in flags]


def read_kvik(rows):
    """`kvik bench --json` as {test: Speed}."""
    return {Test(row["test"], row["n"], row["depth"]):
            Speed(row["tokens_per_s"], row["percent"], row["of"]) for row in rows}


class Kvik:
    """A kvik program, by `kvik bench`."""
    note = ""

    def __init__(self, program, model, threads, flags, name):
        self.name, self.program, self.model = name, program, model
        self.flags = ["--threads", str(threads), *flags]

    def has(self, test):
        return test.kind in ("pp", "tg", "rows")

    def measure(self, tests, _):
        speeds = {}
        for depth, group in by_depth(tests).items():
            speeds.update(read_kvik(output_of([self.program, "bench", self.model, "--json",
                                               *kvik_flags(group, depth), *self.flags])))
        return speeds

    def isa(self):
        done = output_of([self.program, "run", self.model, "--raw", "--ids", "5", "-n", "1", "--json",
                          *self.flags])
        return done["used"]["isa"]


def make_links(folder):
    """A pip build of llama.cpp ships its library links as a list; they are made where missing."""
    listed = folder / "_symlinks.json"
    if listed.exists():
        for link, target in json.loads(listed.read_text()).items():
            if not os.path.lexists(folder / link):
                (folder / link).symlink_to(target)


def read_llama_bench(rows):
    """`llama-bench -o json` as {test: Speed}; a prompt of a width in rows is that test too."""
    speeds = {}
    for row in rows:
        for kind in ("pp", "rows") if row["n_prompt"] else ("tg",):
            test = Test(kind, row["n_prompt"] or row["n_gen"], row.get("n_depth", 0))
            speeds[test] = Speed(row["avg_ts"])
    return speeds


class LlamaBench:
    name, note = "llama-bench", ""

    def __init__(self, program, model, threads, flags):
        make_links(pathlib.Path(program).resolve().parent)
        self.command = [program, "-m", model, "-t", str(threads), "-r", "2", "-o", "json", *flags]

    def has(self, test):
        return test.kind in ("pp", "tg", "rows")

    def measure(self, tests, _):
        speeds = {}
        for depth, group in by_depth(tests).items():
            prompts = ",".join(str(t.n) for t in group if t.kind != "tg") or "0"
            decodes = ",".join(str(t.n) for t in group if t.kind == "tg") or "0"
            speeds.update(read_llama_bench(output_of(
                [*self.command, "-p", prompts, "-n", decodes, "-d", str(depth)])))
        return speeds


# --- servers of this machine with llama.cpp's /completion

def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    try:
        return urllib.request.urlopen(request, timeout=TIMEOUT_S)
    except urllib.error.HTTPError as error:
        sys.exit(f"{url} answers {error.code}: {error.read(500).decode('utf-8', 'replace')}")
    except (urllib.error.URLError, OSError) as error:
        sys.exit(f"{url} does not answer: {getattr(error, 'reason', error)}")


def speed_of_timings(test, answer):
    """What a /completion says of itself."""
    timings = answer.get("timings")
    if not timings:
        sys.exit("the server's answer has no timings: give its address as http://..., which takes "
                 "the time on this side")
    n, ms = (("prompt_n", "prompt_ms") if test.kind == "pp" else ("predicted_n", "predicted_ms"))
    if test.kind == "tg" and timings[n] < LEAST_TOKENS:
        sys.exit(f"the answer ended after {timings[n]} tokens, {test.n} were asked for")
    return Speed(1000 * timings[n] / timings[ms])


def ids_of(n, seed):
    """n token ids that every vocabulary has, other ones for every seed."""
    rng = random.Random(seed)
    return [rng.randrange(100, 1000) for _ in range(n)]


class Timed:
    """A server at `url` that gives timings. Depth is a prompt that it finds again."""

    def __init__(self, name, url, note=""):
        self.name, self.url, self.note = name, url, note

    def has(self, test):
        return test.kind in ("pp", "tg")

    def ask(self, prompt, n_new, cached):
        with post(self.url + "/completion",
                  {"prompt": prompt, "n_predict": n_new, "cache_prompt": cached, "temperature": 0,
                   "ignore_eos": True}) as answer:
            return json.load(answer)

    def measure(self, tests, number):
        speeds = {}
        for test in tests:
            if test.kind == "pp":
                answer = self.ask(ids_of(test.n, number + 1), 1, False)
            else:
                answer = self.ask(ids_of(test.depth, 0) + ids_of(4, number + 1), test.n, True)
            speeds[test] = speed_of_timings(test, answer)
        return speeds


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_up(url, process):
    deadline = time.monotonic() + STARTING_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            sys.exit(f"the server ended with {process.returncode} before it answered")
        try:
            with urllib.request.urlopen(url + "/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    sys.exit(f"{url} did not come up in {STARTING_S} s")


@contextlib.contextmanager
def child(command, **streams):
    try:
        process = subprocess.Popen(command, **streams)
    except OSError as error:
        sys.exit(f"{command[0]} cannot be run: {error.strerror}")
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def context_of(o):
    """Positions that the tests need, and some."""
    return o.depth + max(o.prefill, o.decode) + 64 if "depth" in o.test else \
        max(o.prefill, o.decode) + 64


@contextlib.contextmanager
def llama_server(o):
    program = pathlib.Path(o.peer).resolve()
    make_links(program.parent)
    url = f"http://127.0.0.1:{free_port()}"
    command = [str(program), "-m", o.model, "--host", "127.0.0.1", "--port", url.split(":")[-1],
               "-t", str(o.threads), "-c", str(context_of(o)), "--parallel", "1",
               *shlex.split(o.peer_flags)]
    with child(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
               stderr=subprocess.DEVNULL) as process:
        wait_until_up(url, process)
        yield Timed("llama-server", url)


XLLAMACPP = """
import sys
import xllamacpp
path, n_threads, n_context = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
params = xllamacpp.CommonParams()
params.model.path = path
params.cpuparams.n_threads = n_threads
params.cpuparams_batch.n_threads = n_threads
params.n_ctx = n_context
params.n_parallel = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def xllamacpp(o):
    command = [o.python, "-c", XLLAMACPP, o.model, str(o.threads), str(context_of(o))]
    with child(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
               text=True) as process:
        url = process.stdout.readline().strip()
        if not url.startswith("http"):
            sys.exit(f"{o.python} could not start xllamacpp's server: is the wheel installed there? "
                     "(python3 -m pip install xllamacpp; --python names the interpreter)")
        wait_until_up(url, process)
        yield Timed("xllamacpp", url)


# --- any OpenAI-compatible server, by the clock on this side

Streamed = collections.namedtuple("Streamed", "first_s last_s n_tokens n_prompt")


def read_stream(lines, clock):
    """A streamed /v1/completions: seconds to its first and its last text, and how many tokens.

    Without a usage at its end every piece of text counts as a token, and the prompt's are unknown.
    """
    start, first, last, pieces, usage = clock(), None, None, 0, {}
    for line in lines:
        if not line.startswith(b"data:"):
            continue
        data = line[len(b"data:"):].strip()
        if data == b"[DONE]":
            break
        event = json.loads(data)
        if "error" in event:
            sys.exit(f"the server ends its answer with an error: {event['error']}")
        if any(choice.get("text") for choice in event.get("choices", [])):
            last = clock()
            first = last if first is None else first
            pieces += 1
        usage = event.get("usage") or usage
    if first is None:
        sys.exit("the server's answer has no text")
    return Streamed(first - start, last - start, usage.get("completion_tokens", pieces),
                    usage.get("prompt_tokens"))


def speed_of_stream(test, streamed, n_prompt):
    """n_prompt: the prompt's tokens as kvik counts them, where the server does not say."""
    if test.kind == "pp":
        return Speed((streamed.n_prompt or n_prompt) / streamed.first_s)
    if streamed.n_tokens < LEAST_TOKENS:
        sys.exit(f"the answer ended after {streamed.n_tokens} tokens, {test.n} were asked for")
    return Speed((streamed.n_tokens - 1) / (streamed.last_s - streamed.first_s))


class Texts:
    """Prompts of about as many tokens as wanted; no two rounds have one that begins alike."""

    def __init__(self, count):
        self.count = count  # text -> tokens

    def prompt(self, n_tokens, seed):
        """(text, tokens)"""
        rng = random.Random(seed)
        words = [rng.choice(WORDS) for _ in range(max(1, n_tokens))]
        words[0] += str(seed)
        n = self.count(" ".join(words))
        if n > n_tokens > 1:
            words = words[:max(1, len(words) * n_tokens // n)]
            n = self.count(" ".join(words))
        return " ".join(words), n


def prompt_tokens(test):
    return test.n if test.kind == "pp" else test.depth + 1


class OpenAi:
    def __init__(self, url, texts):
        self.url, self.texts = url.rstrip("/").removesuffix("/v1"), texts
        self.name = self.url.split("//")[-1]
        self.note = f"{self.name}: by the clock on this side, HTTP included\n"
        self.model = None

    def has(self, test):
        return test.kind in ("pp", "tg")

    def isa(self):
        return ""

    def model_name(self):
        if self.model is None:
            try:
                with urllib.request.urlopen(self.url + "/v1/models", timeout=30) as answer:
                    self.model = json.load(answer)["data"][0]["id"]
            except (OSError, ValueError, LookupError) as error:
                sys.exit(f"{self.url}/v1/models names no model: {error}")
        return self.model

    def measure(self, tests, number):
        speeds = {}
        for test in tests:
            text, n_prompt = self.texts.prompt(prompt_tokens(test), number + 1)
            body = {"model": self.model_name(), "prompt": text, "stream": True, "temperature": 0,
                    "max_tokens": 1 if test.kind == "pp" else test.n, "ignore_eos": True,
                    "stream_options": {"include_usage": True}}
            with post(self.url + "/v1/completions", body) as answer:
                speeds[test] = speed_of_stream(test, read_stream(answer, time.monotonic), n_prompt)
        return speeds


class KvikRun(Kvik):
    """kvik on the same text as a server, in a fresh process each time."""

    def __init__(self, program, model, threads, flags, texts):
        super().__init__(program, model, threads, flags, "kvik")
        self.texts = texts
        self.note = "kvik: by `kvik run`, a fresh process for each test, without HTTP\n"

    def has(self, test):
        return test.kind in ("pp", "tg")

    def measure(self, tests, number):
        speeds = {}
        for test in tests:
            text, _ = self.texts.prompt(prompt_tokens(test), number + 1)
            got = output_of([self.program, "run", self.model, text, "--raw", "--json", "--temp", "0",
                             "--ignore-eos", "-n", str(1 if test.kind == "pp" else test.n + 1),
                             *self.flags])["timings"]
            speeds[test] = Speed(1000 * got["prompt_n"] / got["prompt_ms"] if test.kind == "pp" else
                                 1000 * (got["decode_n"] - 1) / got["decode_ms"])
        return speeds


def is_url(text):
    return text.startswith(("http://", "https://"))


@contextlib.contextmanager
def sides(o):
    """(kvik, the peer), started; ended afterwards."""
    flags = [word for name in ("isa", "kv") if getattr(o, name)
             for word in (f"--{name}", getattr(o, name))]
    program = pathlib.Path(o.peer).name
    tokenizer = o.kvik

    def count(text):
        return len(output_of([tokenizer, "tokenize", o.model, "--text", text, "--json"]))

    with contextlib.ExitStack() as stack:
        ours = Kvik(o.kvik, o.model, o.threads, flags, "kvik")
        if is_url(o.kvik):
            tokenizer = str(pathlib.Path(__file__).resolve().parent.parent / "build/release/kvik")
            ours = OpenAi(o.kvik, Texts(count))
        elif is_url(o.peer):
            ours = KvikRun(o.kvik, o.model, o.threads, flags, Texts(count))
        if is_url(o.peer):
            theirs = OpenAi(o.peer, Texts(count))
        elif program == "xllamacpp":
            theirs = stack.enter_context(xllamacpp(o))
        elif program.startswith("llama-server"):
            theirs = stack.enter_context(llama_server(o))
        elif program.startswith("kvik"):
            theirs = Kvik(o.peer, o.model, o.threads, shlex.split(o.peer_flags),
                          " ".join([program, o.peer_flags]).strip())
        else:
            theirs = LlamaBench(o.peer, o.model, o.threads, shlex.split(o.peer_flags))
        yield ours, theirs
