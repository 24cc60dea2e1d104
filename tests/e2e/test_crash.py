"""KV on disk (--cache-dir): killed, cut, damaged or deleted, answers stay those of a cold run.

src/tier has the laws of the files themselves, with 300 kills of a small writer; here the real program
writes KV of the real model. Seeds are printed.
"""
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from program import BINARY, GEMMA, MODEL, TIMEOUT_S, call, environment, golden, kvik, kvik_json

N_KILLS = int(os.environ.get("KVIK_TEST_KILLS", "40"))
SEED = int(os.environ.get("KVIK_TEST_SEED", "6"))
N_NEW = 4


def prompts(model):
    """Some that begin alike, and one that does not."""
    russian = golden(model)["texts"]["russian"]["ids"]
    return [russian[:40], russian[:150], russian[:151], russian[:290], russian[20:180]]


def arguments(ids, folder, model=MODEL):
    where = ["--cache-dir", str(folder)] if folder else []
    return ["run", model, "--raw", "--ids", ",".join(map(str, ids)), "--ignore-eos", "-n",
            str(N_NEW), "--temp", "0", "--calibrate", "off", "--json", "--logits-hash", *where]


def ask(ids, folder=None, model=MODEL):
    return kvik_json(*[a for a in arguments(ids, folder, model) if a != "--json"])


def told(got):
    return got["ids"], got["logits_sha256"]


def bytes_in(folder):
    total = 0
    for name in folder.glob("kv-*.seg"):
        try:
            total += name.stat().st_size
        except FileNotFoundError:
            pass
    return total


class OnDisk(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cold = {model: [told(ask(ids, None, model)) for ids in prompts(model)]
                    for model in (MODEL, GEMMA)}

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kvik-crash-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def start(self, ids, **how):
        return subprocess.Popen([BINARY, *arguments(ids, self.folder)], stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                env=environment(), **how)

    def assert_as_cold(self, which, model=MODEL, folder=None):
        got = ask(prompts(model)[which], folder or self.folder, model)
        self.assertEqual(told(got), self.cold[model][which])
        return got

    def fsck(self, *flags, status=0):
        done = call("fsck", self.folder, *flags)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def fill(self, model=MODEL):
        for ids in prompts(model):
            ask(ids, self.folder, model)

    def damage(self, draw):
        """A flipped byte somewhere in each segment."""
        for name in self.folder.glob("kv-*.seg"):
            with open(name, "r+b") as file:
                at = draw.randrange(128, name.stat().st_size)
                file.seek(at)
                byte = file.read(1)[0]
                file.seek(at)
                file.write(bytes([byte ^ 1 << draw.randrange(8)]))

    def test_killed_while_they_write_they_leave_what_answers_as_a_cold_run_does(self):
        draw = random.Random(SEED)
        text = golden(MODEL)["texts"]["russian"]["ids"]
        n_killed, n_torn, n_cached = 0, 0, 0
        while n_killed < N_KILLS:
            # Two at once, with prompts that are new. A kill comes when the folder has grown by so
            # much, or after so long.
            starts = [draw.randrange(700), draw.randrange(700)]
            asked = [text[start:start + draw.randrange(60, 300)] for start in starts]
            aim = bytes_in(self.folder) + draw.randrange(1, 8 << 20)
            running = [self.start(ids) for ids in asked]
            patience = time.monotonic() + draw.choice((draw.uniform(0, 1), 30, 30, 30))
            while (bytes_in(self.folder) < aim and time.monotonic() < patience
                   and any(process.poll() is None for process in running)):
                pass
            for process in running:
                process.send_signal(signal.SIGKILL)
                n_killed += process.wait() == -signal.SIGKILL
            n_torn += self.fsck().count("torn")
            with self.subTest(seed=SEED, killed=n_killed):
                warm = ask(asked[0], self.folder)
                self.assertEqual(told(warm), told(ask(asked[0])))
                n_cached += warm["timings"]["cached_n"]
            if draw.randrange(8) == 0:
                for name in self.folder.glob("kv-*.seg"):
                    name.unlink()
        print(f"seed {SEED}: {n_killed} killed, {n_torn} torn tails, {n_cached} tokens from disk",
              flush=True)
        self.assertGreater(n_cached, 0)

    def test_the_same_prompt_after_a_restart_is_computed_no_more(self):
        for model in (MODEL, GEMMA):
            with self.subTest(model=model):
                for which, ids in enumerate(prompts(model)):
                    self.assert_as_cold(which, model)
                    again = self.assert_as_cold(which, model)
                    self.assertEqual(again["timings"]["cached_n"], len(ids))

    def test_damage_is_a_miss_and_fsck_tells_and_clears_it_away(self):
        draw = random.Random(SEED)
        for turn in range(4):
            self.fill()
            self.damage(draw)
            with self.subTest(seed=SEED, turn=turn):
                self.assertIn("damaged", self.fsck(status=3))
                for which in range(len(prompts(MODEL))):
                    self.assert_as_cold(which)
                self.fsck("--repair")
                self.assertIn("\nok\n", self.fsck())
                for which in range(len(prompts(MODEL))):
                    self.assert_as_cold(which)

    def test_the_folder_deleted_while_it_is_in_use_costs_nothing_but_time(self):
        draw = random.Random(SEED)
        self.fill()
        for turn in range(6):
            which = draw.randrange(len(prompts(MODEL)))
            process = subprocess.Popen([BINARY, *arguments(prompts(MODEL)[which], self.folder)],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, encoding="utf-8", env=environment())
            pause = time.monotonic() + draw.uniform(0, 0.5)
            while time.monotonic() < pause and process.poll() is None:
                pass
            shutil.rmtree(self.folder, ignore_errors=True)
            out, err = process.communicate(timeout=TIMEOUT_S)
            with self.subTest(seed=SEED, turn=turn):
                self.assertEqual(process.returncode, 0, err)
                self.assertIn(self.cold[MODEL][which][1], out)

    def test_two_at_once_share_a_folder(self):
        running = [(which, subprocess.Popen([BINARY, *arguments(ids, self.folder)],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            encoding="utf-8", env=environment()))
                   for which, ids in list(enumerate(prompts(MODEL)))[2:4]]
        for which, process in running:
            out, _ = process.communicate(timeout=TIMEOUT_S)
            self.assertIn(self.cold[MODEL][which][1], out)
        for which, _ in running:
            got = self.assert_as_cold(which)
            self.assertEqual(got["timings"]["cached_n"], len(prompts(MODEL)[which]))
        self.fsck()

    def test_another_type_of_kv_finds_nothing_there(self):
        self.fill()
        ids = prompts(MODEL)[1]
        flags = [a for a in arguments(ids, self.folder) if a != "--json"]
        got = kvik_json(*flags, "--kv", "f32")
        self.assertEqual(got["timings"]["cached_n"], 0)
        self.assertEqual(told(got), told(kvik_json(*flags[:-2], "--kv", "f32")))

    def test_a_folder_that_cannot_be_written_to_keeps_nobody_from_answering(self):
        # Not even root makes a file there.
        self.assert_as_cold(1, folder="/proc/self")

    def test_a_file_system_without_room_keeps_nobody_from_answering(self):
        limited = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        for which, ids in enumerate(prompts(MODEL)):
            done = subprocess.run([BINARY, *arguments(ids, self.folder)], capture_output=True,
                                  encoding="utf-8", timeout=TIMEOUT_S, stdin=subprocess.DEVNULL,
                                  env=environment(), preexec_fn=limited)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(self.cold[MODEL][which][1], done.stdout)
        self.fsck()

    def test_the_quota_holds(self):
        limit = 12 << 20
        for ids in prompts(MODEL):
            kvik(*arguments(ids, self.folder), "--cache-disk", "12M")
            self.assertLessEqual(bytes_in(self.folder), limit)
        self.assertGreater(bytes_in(self.folder), limit // 3)

    def test_fsck_tells_a_program_what_it_tells_a_reader(self):
        self.fill()
        got = json.loads(self.fsck("--json"))
        self.assertEqual((got["folder"], got["ok"]), (str(self.folder), True))
        self.assertEqual(got["bytes"], bytes_in(self.folder))
        self.assertEqual({s["name"] for s in got["segments"]},
                         {name.name for name in self.folder.iterdir()})
        for segment in got["segments"]:
            self.assertLessEqual({"state", "in_use", "records", "bytes", "damaged_records",
                                  "bytes_lost", "repaired"}, set(segment))
        self.assertEqual(got["records"], sum(s["records"] for s in got["segments"]))
        self.damage(random.Random(SEED))
        self.assertFalse(json.loads(self.fsck("--json", status=3))["ok"])

    def test_fsck_of_what_is_no_folder_is_an_error_that_names_it(self):
        for name in ("/nowhere/at/all", MODEL):
            done = call("fsck", name)
            self.assertEqual(done.returncode, 3)
            self.assertIn(name, done.stderr)

    def test_a_folder_that_is_a_file_is_an_error_that_names_it(self):
        name = self.folder / "file"
        name.write_text("no folder")
        done = call(*arguments(prompts(MODEL)[0], name))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(str(name), done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
