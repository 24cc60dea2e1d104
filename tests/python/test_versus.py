"""bench/versus.py reads what engines say of themselves, and asks servers as it should: against a server
and a kvik of this test's own, on the loopback."""
import contextlib
import csv
import http.server
import io
import json
import os
import pathlib
import stat
import sys
import tempfile
import threading
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import peers  # noqa: E402
import versus  # noqa: E402
from peers import Speed, Test  # noqa: E402

FAKE_KVIK = """#!/usr/bin/env python3
import json, sys
verb, words = sys.argv[1], sys.argv[2:]
def value(flag):
    return words[words.index(flag) + 1]
if verb == "tokenize":
    print(json.dumps([1] * (2 * len(value("--text").split()))))
elif verb == "run":
    print(json.dumps({"used": {"isa": "avx2"},
                      "timings": {"prompt_n": 50, "prompt_ms": 10, "decode_n": 11, "decode_ms": 20}}))
else:
    row = {"depth": int(value("-d")), "percent": 70, "of": "read"}
    print(json.dumps([{**row, "test": "pp", "n": int(value("-p")), "tokens_per_s": 900},
                      {**row, "test": "tg", "n": int(value("-n")), "tokens_per_s": 90}]))
"""


class Server(http.server.BaseHTTPRequestHandler):
    """Answers as llama.cpp's server and as OpenAI's API; keeps what it was asked."""
    asked = []

    def answer(self, body, kind="application/json"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(json.dumps({"data": [{"id": "tiny"}]}).encode())

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, body))
        if self.path == "/completion":
            n = body["n_predict"]
            self.answer(json.dumps({"timings": {
                "prompt_n": len(body["prompt"]), "prompt_ms": 100.0,
                "predicted_n": n, "predicted_ms": 10.0 * n}}).encode())
            return
        events = [{"choices": [{"text": "x"}]}] * body["max_tokens"]
        events.append({"choices": [], "usage": {"prompt_tokens": 40,
                                                "completion_tokens": body["max_tokens"]}})
        lines = [b"data: " + json.dumps(e).encode() + b"\n\n" for e in events]
        self.answer(b"".join(lines) + b"data: [DONE]\n\n", "text/event-stream")

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def server():
    Server.asked = []
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=running.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{running.server_port}"
    finally:
        running.shutdown()
        thread.join()
        running.server_close()


class Clock:
    """A second more at each look."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        self.now += 1
        return self.now


def stream(*events):
    return [b"data: " + json.dumps(e).encode() + b"\n" for e in events] + [b"\n", b"data: [DONE]\n"]


class Programs(unittest.TestCase):
    def test_kvik_is_asked_for_the_tests_of_a_depth_and_no_others(self):
        flags = peers.kvik_flags([Test("tg", 32, 64)], 64)
        self.assertEqual(flags[:6], ["-p", "0", "-n", "32", "-d", "64"])
        self.assertNotIn("-b", flags)
        flags = peers.kvik_flags([Test("pp", 8, 0), Test("rows", 2, 0), Test("rows", 5, 0)], 0)
        self.assertEqual(flags[-4:], ["--test", "pp,rows", "-b", "2,5"])

    def test_reads_what_kvik_bench_prints(self):
        row = {"test": "rows", "n": 5, "rows": 5, "streams": 1, "depth": 9, "tokens_per_s": 7.5,
               "percent": 60, "of": "int8"}
        self.assertEqual(peers.read_kvik([row]), {Test("rows", 5, 9): Speed(7.5, 60, "int8")})

    def test_reads_what_llama_bench_prints(self):
        rows = [{"n_prompt": 5, "n_gen": 0, "n_depth": 0, "avg_ts": 50.0},
                {"n_prompt": 0, "n_gen": 16, "n_depth": 64, "avg_ts": 9.0}]
        speeds = peers.read_llama_bench(rows)
        self.assertEqual(speeds[Test("pp", 5, 0)].tokens_per_s, 50)
        self.assertEqual(speeds[Test("rows", 5, 0)].tokens_per_s, 50)
        self.assertEqual(speeds[Test("tg", 16, 64)].tokens_per_s, 9)

    def test_a_program_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(SystemExit, "/nowhere/kvik cannot be run"):
            peers.output_of(["/nowhere/kvik"])


class Timings(unittest.TestCase):
    def test_prefill_and_decode_are_read_from_an_answer(self):
        answer = {"timings": {"prompt_n": 50, "prompt_ms": 100, "predicted_n": 20,
                              "predicted_ms": 400}}
        self.assertEqual(peers.speed_of_timings(Test("pp", 50, 0), answer), Speed(500))
        self.assertEqual(peers.speed_of_timings(Test("tg", 20, 0), answer), Speed(50))

    def test_an_answer_without_timings_or_too_short_is_an_error(self):
        with self.assertRaisesRegex(SystemExit, "no timings"):
            peers.speed_of_timings(Test("pp", 50, 0), {})
        with self.assertRaisesRegex(SystemExit, "ended after 3 tokens"):
            peers.speed_of_timings(Test("tg", 20, 0), {"timings": {"predicted_n": 3}})

    def test_depth_is_a_prompt_that_the_server_finds_again(self):
        with server() as url:
            side = peers.Timed("fake", url)
            tests = [Test("pp", 30, 0), Test("tg", 10, 50)]
            for number in range(2):
                speeds = side.measure(tests, number)
        self.assertEqual(speeds, {tests[0]: Speed(300), tests[1]: Speed(100)})
        (_, pp1), (_, tg1), (_, pp2), (_, tg2) = Server.asked
        self.assertFalse(pp1["cache_prompt"])
        self.assertNotEqual(pp1["prompt"], pp2["prompt"])
        self.assertTrue(tg1["cache_prompt"])
        self.assertEqual(tg1["prompt"][:50], tg2["prompt"][:50])
        self.assertNotEqual(tg1["prompt"], tg2["prompt"])


class Streams(unittest.TestCase):
    def test_times_run_from_the_request_to_the_first_and_the_last_text(self):
        events = stream({"choices": [{"text": ""}]}, {"choices": [{"text": "a"}]},
                        {"choices": [{"text": "b"}]}, {"choices": [{"text": "c"}]})
        self.assertEqual(peers.read_stream(events, Clock()), peers.Streamed(1, 3, 3, None))

    def test_a_usage_tells_tokens_better_than_pieces_do(self):
        events = stream({"choices": [{"text": "ab"}]},
                        {"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 9}})
        got = peers.read_stream(events, Clock())
        self.assertEqual((got.n_tokens, got.n_prompt), (9, 4))

    def test_an_answer_without_text_or_with_an_error_is_an_error(self):
        with self.assertRaisesRegex(SystemExit, "no text"):
            peers.read_stream(stream({"choices": []}), Clock())
        with self.assertRaisesRegex(SystemExit, "full"):
            peers.read_stream(stream({"error": "full"}), Clock())

    def test_speeds_are_of_the_prompt_and_of_the_tokens_after_the_first(self):
        streamed = peers.Streamed(2.0, 6.0, 9, None)
        self.assertEqual(peers.speed_of_stream(Test("pp", 8, 0), streamed, 10), Speed(5))
        self.assertEqual(peers.speed_of_stream(Test("tg", 9, 0), streamed, 10), Speed(2))
        with self.assertRaisesRegex(SystemExit, "ended after 3"):
            peers.speed_of_stream(Test("tg", 9, 0), peers.Streamed(2, 6, 3, None), 10)

    def test_no_two_rounds_have_prompts_that_begin_alike(self):
        texts = peers.Texts(lambda text: 2 * len(text.split()))
        first, n = texts.prompt(40, 1)
        second, _ = texts.prompt(40, 2)
        self.assertEqual(n, 40)
        self.assertNotEqual(first.split()[0], second.split()[0])

    def test_any_server_is_asked_for_its_model_and_streams(self):
        with server() as url:
            side = peers.OpenAi(url + "/v1", peers.Texts(lambda text: len(text.split())))
            speeds = side.measure([Test("pp", 40, 0), Test("tg", 12, 5)], 0)
        self.assertTrue(all(speed.tokens_per_s > 0 for speed in speeds.values()))
        (_, prefill), (_, decode) = Server.asked
        self.assertEqual((prefill["model"], prefill["max_tokens"]), ("tiny", 1))
        self.assertEqual((decode["max_tokens"], decode["stream"]), (12, True))
        self.assertEqual(len(decode["prompt"].split()), 6)


class Side:
    def __init__(self, name, speeds, order):
        self.name, self.speeds, self.order = name, list(speeds), order

    def measure(self, tests, _):
        self.order.append(self.name)
        speed = self.speeds.pop(0)
        return {test: Speed(speed, 70, "read") for test in tests}


class Rounds(unittest.TestCase):
    def test_sides_take_turns_and_a_ratio_is_of_one_round(self):
        order, tests = [], [Test("tg", 8, 0)]
        ours, theirs = Side("a", [40, 400, 30], order), Side("b", [10, 100, 10], order)
        with contextlib.redirect_stdout(io.StringIO()):
            rounds = versus.run_rounds(ours, theirs, tests, 3)
        self.assertEqual("".join(order), "abbaab")
        row, = versus.summary(tests, rounds, {})
        self.assertEqual((row["ratio_p50"], row["ratio_min"], row["ratio_max"]),
                         ("4.00", "3.00", "4.00"))
        self.assertIn("4.00   3.00 .. 4.00    70 read", versus.table(tests, [row]))

    def test_tests_are_named_and_others_refused(self):
        o = versus.options(["--peer", "x", "--test", "depth,rows", "--decode", "8", "--depth", "99"])
        tests = versus.tests_of(o)
        self.assertEqual(tests[0], Test("tg", 8, 99))
        self.assertEqual([t.n for t in tests[1:]], list(versus.ROWS))
        with self.assertRaisesRegex(SystemExit, "speed is none of"):
            versus.tests_of(versus.options(["--peer", "x", "--test", "speed"]))


class History(unittest.TestCase):
    def test_a_history_of_fewer_columns_gets_the_others_and_keeps_its_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "h.csv")
            pathlib.Path(path).write_text("date,commit,test,ratio_p50\n2026-01-01,abc,pp,6.5\n")
            versus.append_history(path, [{"commit": "def", "depth": 9}])
            versus.append_history(path, [{"commit": "ghi"}])
            with open(path, newline="") as file:
                rows = list(csv.DictReader(file))
        self.assertEqual([row["commit"] for row in rows], ["abc", "def", "ghi"])
        self.assertEqual((rows[0]["ratio_p50"], rows[0]["depth"], rows[0]["peer"]),
                         ("6.5", "0", "llama-bench"))
        self.assertEqual(list(rows[0]), versus.FIELDS)

    def test_the_history_of_the_repository_has_all_columns(self):
        with open(versus.HISTORY, newline="") as file:
            self.assertEqual(next(csv.reader(file)), versus.FIELDS)


class Whole(unittest.TestCase):
    def run_it(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            kvik = pathlib.Path(folder, "kvik")
            kvik.write_text(FAKE_KVIK)
            kvik.chmod(kvik.stat().st_mode | stat.S_IXUSR)
            path = os.path.join(folder, "rounds.csv")
            out = io.StringIO()
            arguments = [word.replace("KVIK", str(kvik)) for word in arguments]
            with mock.patch.object(sys, "argv", ["versus.py", "--kvik", str(kvik), "--csv", path,
                                                 *arguments]), contextlib.redirect_stdout(out):
                versus.main()
            with open(path, newline="") as file:
                return out.getvalue(), list(csv.DictReader(file))

    def test_two_builds_of_kvik_are_compared(self):
        text, rows = self.run_it("--peer", "KVIK", "--rounds", "2", "--prefill", "16", "--decode", "8")
        self.assertIn("prefill 16                900.0    900.0    1.00   1.00 .. 1.00    70 read",
                      text)
        self.assertEqual([row["test"] for row in rows], ["pp", "tg", "pp", "tg"])

    def test_a_url_is_compared_with_kvik_on_the_same_text_and_says_how(self):
        with server() as url:
            text, rows = self.run_it("--peer", url, "--rounds", "1", "--prefill", "16",
                                     "--decode", "12")
        self.assertEqual([float(row["kvik"]) for row in rows], [5000, 500])
        self.assertIn("HTTP included", text)
        self.assertIn("a fresh process", text)

    def test_a_test_that_the_peer_has_not_is_refused(self):
        with server() as url, self.assertRaisesRegex(SystemExit, "has no test of 2 rows"):
            self.run_it("--peer", url, "--test", "rows")

    def test_a_plot_without_matplotlib_says_what_to_install(self):
        with mock.patch("importlib.util.find_spec", return_value=None):
            with self.assertRaisesRegex(SystemExit, "pip install matplotlib"):
                self.run_it("--peer", "KVIK", "--plot", "x.png")


if __name__ == "__main__":
    unittest.main(verbosity=2)
