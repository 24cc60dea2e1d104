"""What a hostile model file can do to the terminal of whoever looks at it: nothing, in any verb."""
import json
import os
import pathlib
import pty
import re
import select
import subprocess
import tempfile
import time
import unittest

from hostile_model import HOSTILE, STEERS, write
from program import BINARY, TIMEOUT_S, environment
from test_list import COMMIT, Stores
from test_pull import Pull

# What a terminal may be sent: text, \n (which the line discipline makes \r\n) and \t.
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
SHOWN = ("\\x1b[2J", "\\x07", "\\x0d", "\\x08", "\\x7f", "\\u009b", "\\u202e", "\\u2066")


def in_terminal(*arguments, stdin="", env=None):
    """Exit status and all bytes that a terminal at stdout and stderr gets. stdin is a pipe."""
    ours, theirs = pty.openpty()
    program = subprocess.Popen([BINARY, *map(str, arguments)], stdin=subprocess.PIPE, stdout=theirs,
                               stderr=theirs, env=environment({"TERM": "xterm", **(env or {})}))
    os.close(theirs)
    program.stdin.write(stdin.encode())
    program.stdin.close()
    return finish(program, ours)


def finish(program, ours):
    seen = b""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        if not select.select([ours], [], [], 1)[0]:
            continue
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the last one who had it open is gone
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    return program.wait(TIMEOUT_S), seen


def piped(*arguments):
    """Standard output of a run that must succeed, as it is."""
    return subprocess.run([BINARY, *map(str, arguments)], stdin=subprocess.DEVNULL, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=TIMEOUT_S,
                          env=environment()).stdout.decode()


class Safe(unittest.TestCase):
    def is_safe(self, seen):
        text = seen.replace(b"\r\n", b"\n").decode()  # a UnicodeDecodeError: bytes that are no text
        found = STEERING.search(text)
        around = text[max(0, found.start() - 60):found.end() + 20] if found else ""
        self.assertIsNone(found, f"{found and ascii(found.group())} in {ascii(around)}")
        return text


class HostileModel(Safe):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name) / ("folder" + "".join(STEERS[:3]))
        cls.folder.mkdir()
        cls.model = cls.folder / ("model" + HOSTILE + ".gguf")
        write(cls.model)
        cls.messages = cls.folder / "messages.json"
        cls.messages.write_text(json.dumps([{"role": "user", "content": HOSTILE}]))
        cls.broken = cls.folder / ("broken" + HOSTILE + ".gguf")
        cls.broken.write_bytes(cls.model.read_bytes()[:3000])

    def test_no_verb_sends_what_a_file_brings(self):
        ids = " ".join(str(i) for i in range(303))
        quick = ("--calibrate", "off")
        kv = self.folder / "kv"
        kv.mkdir()
        (kv / ("kv-1-2-3" + HOSTILE + ".seg")).write_bytes(b"KVIKSEG\0" + bytes(200))
        for words, stdin in (
                (("run", self.model, "hi", "-n", "40", "--temp", "0", *quick), ""),
                (("run", self.model, "hi", "-n", "40", "--seed", "1", "--raw", *quick), ""),
                (("run", self.model, "hi", "-n", "8", "--json", *quick), ""),
                (("run", self.model, "hi", "-n", "8", "--beams", "2", *quick), ""),
                (("run", self.model, "hi", "-n", "8", "--kv-report", *quick), ""),
                (("chat", self.model, "-n", "20", *quick),
                 "hi\n/list\n/system " + HOSTILE + "\n/system\n/cache\n/why\n/stats\n/set stop "
                 + HOSTILE + "\n/" + HOSTILE + "\n/load " + HOSTILE + "\n/fork x\nho\n/branch\n"),
                (("show", self.model), ""), (("show", self.model, "--tensors"), ""),
                (("show", self.model, "--template"), ""), (("show", self.model, "--json"), ""),
                (("show", self.model, "--check"), ""),
                (("template", self.model, self.messages), ""),
                (("template", self.model, self.messages, "--json"), ""),
                (("tokenize", self.model, "--decode"), ids + "\n"),
                (("tokenize", self.model, "--decode", "--json"), ids + "\n"),
                (("tokenize", self.model), HOSTILE + "\n"),
                (("score", self.model, "--file", self.messages, *quick), ""),
                (("bench", self.model, "-p", "8", "-r", "1"), ""),
                (("doctor", self.model), ""),
                (("fsck", kv), "")):
            with self.subTest(words=ascii(words)):
                status, seen = in_terminal(*words, stdin=stdin)
                text = self.is_safe(seen)
                self.assertIn(status, (0, 2, 3), text)
                self.assertTrue(text.strip())

    def test_no_error_sends_what_a_file_brings(self):
        for words in (("run", self.broken, "hi"), ("show", self.broken), ("show", HOSTILE),
                      ("show", "--check", self.broken), ("chat", self.broken), ("bench", self.broken),
                      ("tokenize", self.broken), ("template", self.broken, self.messages),
                      ("score", self.broken, "--file", self.messages), ("doctor", self.broken),
                      ("fsck", self.broken), ("run", self.model, "hi", "--config", HOSTILE),
                      (HOSTILE,), ("run", "--" + HOSTILE),
                      ("run", self.model, "hi", "--json", "--temp", HOSTILE)):
            with self.subTest(words=ascii(words)):
                status, seen = in_terminal(*words)
                text = self.is_safe(seen)
                self.assertNotEqual(status, 0)
                self.assertIn("\\x1b[2J" if "--json" not in words else "error", text)

    def test_what_was_written_out_can_be_read(self):
        _, seen = in_terminal("run", self.model, "hi", "-n", "60", "--temp", "1.5", "--seed", "3")
        shown = [steer for steer in SHOWN if steer in seen.decode()]
        self.assertGreater(len(shown), 4, ascii(seen.decode()))
        _, seen = in_terminal("show", self.model, "--template")
        for steer in SHOWN:
            self.assertIn(steer, seen.decode())

    def test_chat_at_a_terminal_with_a_line_editor(self):
        ours, theirs = pty.openpty()
        with tempfile.TemporaryDirectory() as home:
            program = subprocess.Popen(
                [BINARY, "chat", str(self.model), "-n", "20", "--calibrate", "off"], stdin=theirs,
                stdout=theirs, stderr=theirs, start_new_session=True,
                env=environment({"TERM": "dumb", "HOME": home}))
            os.close(theirs)
            os.write(ours, b"hi\n/cache\n/list\n/exit\n")
            status, seen = finish(program, ours)
        self.assertEqual(status, 0)
        self.assertIn("\\x1b[2J", self.is_safe(seen))

    def test_a_pipe_gets_the_bytes_as_they_are(self):
        words = ("run", self.model, "hi", "-n", "60", "--temp", "1.5", "--seed", "3")
        self.assertGreater(len([s for s in STEERS if s in piped(*words)]), 4)
        self.assertEqual(piped("show", self.model, "--template").count(HOSTILE), 3)
        _, seen = in_terminal(*words)
        self.assertNotIn("\x1b", seen.decode())


# No folder's name holds a slash or a null byte, and none is longer than 255 bytes.
NAME = HOSTILE + "x"


class HostileStores(Safe, Stores):
    """Names that other programs' folders bring, in `kvik list` and wherever a name is looked up."""

    def setUp(self):
        super().setUp()
        for name in ("registry.ollama.ai/library/model/tag" + NAME,
                     "registry.ollama.ai/library/model" + NAME + "/tag",
                     "registry.ollama.ai/space" + NAME + "/model/tag", "host" + NAME + "/a/b/c"):
            self.add_ollama(name)
        self.add_ollama("registry.ollama.ai/library/gone" + NAME + "/tag", weights="d" * 64)
        manifest = self.add_ollama("registry.ollama.ai/library/broken" + NAME + "/tag")
        manifest.write_text(HOSTILE)
        adapter = self.add_ollama("registry.ollama.ai/library/adapter" + NAME + "/tag",
                                  (("adapter" + HOSTILE, b"x"), ("adapter", b"x")))
        self.assertTrue(adapter.exists())
        self.add_file(self.lmstudio / ("owner" + NAME) / ("model" + NAME) / (NAME + ".gguf"))
        self.add_snapshot("Owner/Repo" + NAME, COMMIT, NAME + "-Q4_K_M.gguf", ref="main")

    def test_no_list_sends_what_a_name_brings(self):
        for words in (("list",), ("list", "--json")):
            with self.subTest(words=words):
                status, seen = in_terminal(*words, env=self.env)
                text = self.is_safe(seen)
                self.assertEqual(status, 0, text)
                self.assertGreater(len(re.findall(r"[\\]u?(?:x1b|001b)\[2J", text)), 6, text)

    def test_no_error_about_a_name_sends_it(self):
        for name in ("gone" + NAME + ":tag", "broken" + NAME + ":tag", "adapter" + NAME + ":tag",
                     "model:" + NAME, "Owner/Repo" + NAME + ":Q8_0", NAME + "/b:c",
                     "hf:Owner/None" + NAME):
            for words in (("show", name), ("run", name, "hi"), ("chat", name)):
                with self.subTest(words=ascii(words)):
                    status, seen = in_terminal(*words, env=self.env)
                    self.assertNotEqual(status, 0, self.is_safe(seen))
                    if not name.startswith("gone"):  # its error names the blob by checksum
                        self.assertIn("\\x1b[2J", self.is_safe(seen))

    def test_a_name_that_is_found_is_shown_written_out(self):
        for name in ("model" + NAME, "Owner/Repo" + NAME, "hf:Owner/Repo" + NAME):
            with self.subTest(name=ascii(name)):
                status, seen = in_terminal("show", name, env=self.env)
                self.assertEqual(status, 0, self.is_safe(seen))
                self.assertIn("\\x1b[2J", self.is_safe(seen))


class HostileHub(Safe, Pull):
    """What a server and a command line bring into the messages of `kvik pull`."""

    def says(self, *words, what="hf:Owner/Repo", env=None):
        status, seen = in_terminal("pull", what, *words, env={**self.env, **(env or {})})
        text = self.is_safe(seen)
        self.assertTrue(text.strip())
        return status, text

    def test_no_name_of_a_repository_is_sent(self):
        for what in ("hf:" + HOSTILE, "hf:Owner/Repo" + HOSTILE, "hf:Owner/Repo:" + HOSTILE,
                     "hf:Owner/Repo/" + HOSTILE, "hf:Owner/Repo@" + HOSTILE, HOSTILE,
                     "https://huggingface.co/Owner/Repo/blob/main/" + HOSTILE,
                     "https://" + HOSTILE + "/Owner/Repo"):
            with self.subTest(what=ascii(what)):
                status, text = self.says(what=what)
                self.assertNotEqual(status, 0)
                self.assertIn("\\x1b[2J", text)

    def test_no_setting_is_sent(self):
        for name in ("HF_ENDPOINT", "HF_HOME", "HF_HUB_CACHE", "HF_TOKEN", "HF_TOKEN_PATH",
                     "CURL_CA_BUNDLE"):
            for value in (str(self.home / HOSTILE), "/dev/null/" + HOSTILE):
                with self.subTest(name=name, value=ascii(value)):
                    self.says("--revision", "main", env={name: value})

    def test_nothing_that_a_server_sends_is_passed_on(self):
        self.hub.files = {HOSTILE + "-Q4_K_M.gguf": (b"four", True),
                          "folder" + HOSTILE + "/m-Q8_0.gguf": (b"eight", True)}
        for what in ("hf:Owner/Repo", "hf:Owner/Repo:Q8_0", "hf:Owner/Repo:Q2_K",
                     "hf:Owner/Repo/" + HOSTILE + "-Q4_K_M.gguf"):
            with self.subTest(what=ascii(what)):
                self.says(what=what)
        for listing in (HOSTILE, '{"sha": ' + json.dumps(HOSTILE) + "}",
                        json.dumps({"sha": COMMIT, "siblings": [{"rfilename": HOSTILE}]}),
                        json.dumps({"sha": COMMIT, "siblings": HOSTILE}),
                        json.dumps({HOSTILE: 1, "siblings": [{HOSTILE: HOSTILE}]})):
            with self.subTest(listing=ascii(listing)):
                self.hub.listing = listing.encode()
                status, _ = self.says()
                self.assertNotEqual(status, 0)

    def test_no_header_is_passed_on(self):
        raw = "\x1b[2J\x08\x7f"  # what a header can hold
        self.hub.error_code = raw
        for status in (400, 401, 403, 404, 418):
            with self.subTest(status=status):
                self.hub.faults = [status] * 9
                self.assertNotEqual(self.says()[0], 0)
        self.hub.faults = []
        for to in ("http://127.0.0.1:1/" + raw, raw, "ftp://" + raw):
            with self.subTest(to=ascii(to)):
                self.hub.redirect = to
                self.assertNotEqual(self.says()[0], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
