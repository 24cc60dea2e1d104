"""Models that other programs left on this machine: `kvik list`, and their names wherever a MODEL is."""
import hashlib
import json
import os
import pathlib
import tempfile
import unittest

from program import BINARY, GEMMA, MODEL, call, kvik, kvik_json
from terminal import Terminal

KIND = "application/vnd.ollama.image."
COMMIT, OTHER_COMMIT = "b" * 40, "c" * 40
WEIGHTS = "a" * 64  # what Ollama's manifests call MODEL


class Stores(unittest.TestCase):
    """A home with nothing in it, and what puts models there as the other programs do."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        self.env = {"HOME": str(self.home), "OLLAMA_MODELS": "", "HF_HOME": "", "HF_HUB_CACHE": "",
                    "HUGGINGFACE_HUB_CACHE": "", "XDG_CACHE_HOME": ""}
        self.ollama = self.home / ".ollama/models"
        self.lmstudio = self.home / ".lmstudio/models"
        self.cache = self.home / ".cache/huggingface/hub"

    def blob(self, data):
        digest = hashlib.sha256(data).hexdigest()
        (self.ollama / "blobs").mkdir(parents=True, exist_ok=True)
        (self.ollama / f"blobs/sha256-{digest}").write_bytes(data)
        return f"sha256:{digest}"

    def add_ollama(self, name, layers=(), weights=WEIGHTS):
        """name: HOST/NAMESPACE/MODEL/TAG; layers: (kind, bytes)."""
        blobs = self.ollama / "blobs"
        blobs.mkdir(parents=True, exist_ok=True)
        link = blobs / f"sha256-{WEIGHTS}"
        if not link.exists():
            link.symlink_to(MODEL)
        listed = [{"mediaType": KIND + "model", "digest": f"sha256:{weights}", "size": 1}]
        listed += [{"mediaType": KIND + kind, "digest": self.blob(data), "size": len(data)}
                   for kind, data in layers]
        manifest = self.ollama / "manifests" / name
        manifest.parent.mkdir(parents=True, exist_ok=True)
        manifest.write_text(json.dumps({
            "schemaVersion": 2,
            "config": {"digest": self.blob(b'{"file_type":"Q4_1"}'), "size": 1},
            "layers": listed}))
        return manifest

    def add_file(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(MODEL)
        return path

    def add_snapshot(self, repository, commit, *files, ref=None):
        folder = self.cache / ("models--" + repository.replace("/", "--"))
        for file in files:
            self.add_file(folder / "snapshots" / commit / file)
        if ref:
            (folder / "refs").mkdir(exist_ok=True)
            (folder / "refs" / ref).write_text(commit)
        return folder / "snapshots" / commit

    def listed(self, **env):
        found = kvik_json("list", env={**self.env, **env})["models"]
        # Whoever runs the tests may have Ollama's service, whose folder no variable moves.
        return [model for model in found if model["path"].startswith(str(self.home))
                or not model["path"]]

    def path_of(self, name):
        """The file that `show` opens by a name."""
        return kvik_json("show", name, env=self.env)["file"]

    def refused(self, status, *words, arguments):
        done = call(*arguments, env=self.env)
        self.assertEqual(done.returncode, status, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class Ollama(Stores):
    def test_names_as_ollama_has_them(self):
        self.add_ollama("registry.ollama.ai/library/smol/135m")
        self.add_ollama("registry.ollama.ai/library/small/latest")
        self.add_ollama("registry.ollama.ai/me/mine/v1")
        self.add_ollama("hf.co/Owner/Repo-GGUF/Q4_K_M")
        names = [model["name"] for model in self.listed()]
        self.assertEqual(sorted(names), ["hf.co/Owner/Repo-GGUF:Q4_K_M", "me/mine:v1",
                                         "small:latest", "smol:135m"])
        blob = str(self.ollama / f"blobs/sha256-{WEIGHTS}")
        for name in (*names, "small", "library/smol:135m", "registry.ollama.ai/library/smol:135m",
                     "SMOL:135M", "ollama:smol:135m", "ollama:small",
                     "hf.co/owner/repo-gguf:q4_k_m"):
            self.assertEqual(self.path_of(name), blob, name)

    def test_a_name_without_a_tag_means_the_only_one(self):
        self.add_ollama("registry.ollama.ai/library/smol/135m")
        blob = str(self.ollama / f"blobs/sha256-{WEIGHTS}")
        for name in ("smol", "library/smol", "ollama:smol"):
            self.assertEqual(self.path_of(name), blob, name)
        self.add_ollama("registry.ollama.ai/library/smol/360m")
        self.refused(2, "smol:135m", "smol:360m", arguments=("show", "smol"))
        self.add_ollama("registry.ollama.ai/library/smol/latest")
        self.assertEqual(self.path_of("smol"), blob)

    def test_the_variable_names_the_folder(self):
        self.add_ollama("registry.ollama.ai/library/smol/135m")
        moved = self.home / "elsewhere"
        self.ollama.rename(moved)
        self.assertEqual(self.listed(), [])
        found = self.listed(OLLAMA_MODELS=str(moved))
        self.assertEqual([model["name"] for model in found], ["smol:135m"])
        self.assertEqual(found[0]["bytes"], os.path.getsize(MODEL))
        self.assertEqual(found[0]["quant"], "Q4_1")
        self.assertIsNone(found[0]["problem"])

    def test_parameters_are_defaults_and_the_system_message_is_said(self):
        self.add_ollama("registry.ollama.ai/library/smol/135m", [
            ("params", json.dumps({"temperature": 0, "num_predict": 5, "num_ctx": 512, "seed": 7,
                                   "top_k": 3, "top_p": 0.5, "min_p": 0.1, "repeat_penalty": 1.5,
                                   "num_thread": 1, "mirostat": 2, "stop": ["</s>", "<|user|>"],
                                   "num_keep": 4}).encode()),
            ("system", b"You are a pirate."), ("template", b"{{ .Prompt }}"), ("license", b"MIT")])
        by_name = kvik_json("run", "smol:135m", "Hi", env=self.env)
        by_flags = kvik_json(
            "run", MODEL, "Hi", "--temp", "0", "-n", "5", "--ctx", "512", "--seed", "7", "--top-k",
            "3", "--top-p", "0.5", "--min-p", "0.1", "--repeat-penalty", "1.5", "--threads", "1",
            "--stop", "</s>", "--stop", "<|user|>", "--system", "You are a pirate.", env=self.env)
        for key in ("prompt_ids", "ids", "logprobs", "used"):
            self.assertEqual(by_name[key], by_flags[key], key)
        self.assertEqual(by_name["used"]["context"], 512)
        self.assertEqual(len(by_name["ids"]), 5)
        told = call("run", "smol:135m", "Hi", env=self.env).stderr
        for word in ("--temp 0", "-n 5", "</s>, <|user|>", "a system message", "flags beat them",
                     "mirostat", "num_keep", "template", "the chat template is the GGUF's own"):
            self.assertIn(word, told)
        self.assertNotIn("license", told)

    def test_arguments_variables_and_the_file_beat_parameters(self):
        self.add_ollama("registry.ollama.ai/library/smol/135m", [
            ("params", b'{"temperature":0,"num_predict":5,"num_ctx":512}'), ("system", b"Shout.")])
        config = self.home / "config.toml"
        config.write_text("ctx = 256\n[run]\nsystem = \"Whisper.\"\n")
        env = {**self.env, "KVIK_CONFIG": str(config)}
        got = kvik_json("run", "-n", "2", "smol:135m", "Hi", env=env)
        self.assertEqual(len(got["ids"]), 2)
        self.assertEqual(got["used"]["context"], 256)
        self.assertEqual(got["prompt_ids"], kvik_json(
            "run", MODEL, "Hi", "-n", "0", "--system", "Whisper.", env=self.env)["prompt_ids"])
        got = kvik_json("run", "smol:135m", "Hi", env={**env, "KVIK_N": "1", "KVIK_CTX": "128"})
        self.assertEqual((len(got["ids"]), got["used"]["context"]), (1, 128))
        # A message for the system has no place where there is no template.
        got = kvik_json("run", "smol:135m", "Hi", "--raw", env=self.env)
        self.assertEqual(got["prompt_ids"], kvik_json(
            "run", MODEL, "Hi", "--raw", "-n", "0", env=self.env)["prompt_ids"])

    def test_what_asks_for_nothing_and_what_is_too_much(self):
        self.add_ollama("registry.ollama.ai/library/smol/135m", [
            ("params", b'{"num_predict":-1,"num_ctx":1000000,"seed":-1,"top_k":-1}')])
        got = kvik_json("run", "smol:135m", "Hi", "-n", "1", env=self.env)
        self.assertEqual(got["used"]["context"], 8192)
        self.add_ollama("registry.ollama.ai/library/wild/1", [("params", b'{"temperature":-3}')])
        self.refused(2, "the parameters of wild:1 (Ollama): temp",
                     arguments=("run", "wild:1", "Hi", "--json"))
        kvik("run", "wild:1", "Hi", "-n", "1", "--temp", "0", env=self.env)

    def test_what_it_does_not_state_is_as_ollama_has_it(self):
        self.add_ollama("registry.ollama.ai/library/plain/1")
        self.add_ollama("registry.ollama.ai/library/plain/2", [
            ("params", b'{"top_k":3,"repeat_penalty":1.3}')])
        words = ("Tell me a story.", "-n", "12", "--seed", "5")

        def ids(model, *flags):
            return kvik_json("run", model, *words, *flags, env=self.env)["ids"]
        usual = {"--temp": "0.8", "--top-k": "40", "--top-p": "0.9", "--repeat-penalty": "1.1"}

        def by_flags(**changed):
            flags = {**usual, **changed}
            return ids(MODEL, *[word for pair in flags.items() for word in pair])
        self.assertEqual(ids("plain:1"), by_flags())
        self.assertEqual(ids("plain:2"), by_flags(**{"--top-k": "3", "--repeat-penalty": "1.3"}))
        self.assertEqual(ids("plain:1", "--temp", "0"), by_flags(**{"--temp": "0"}))
        config = self.home / "config.toml"
        config.write_text("repeat-penalty = 1.0\n")
        self.assertEqual(ids("plain:1", "--config", str(config)),
                         by_flags(**{"--repeat-penalty": "1"}))
        self.assertNotEqual(ids("plain:1"), ids(MODEL))

    def test_a_stop_text_for_a_model_without_a_template(self):
        self.add_ollama("registry.ollama.ai/library/base/1", [
            ("params", b'{"temperature":0,"stop":["<end_of_turn>","\\n\\n"],"num_predict":40}'),
            ("template", b"{{ .Prompt }}")])
        (self.ollama / f"blobs/sha256-{WEIGHTS}").unlink()
        (self.ollama / f"blobs/sha256-{WEIGHTS}").symlink_to(GEMMA)
        done = call("run", "base:1", "The capital of France is", env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("it completes the prompt", done.stderr)
        self.assertNotIn("\n\n", done.stdout)
        got = kvik_json("run", "base:1", "The capital of France is", env=self.env)
        self.assertIsNone(got["template"])
        self.assertEqual(got["ids"], kvik_json(
            "run", GEMMA, "The capital of France is", "--temp", "0", "-n", "40", "--stop",
            "<end_of_turn>", "--stop", "\n\n", "--top-k", "40", "--top-p", "0.9",
            "--repeat-penalty", "1.1", env=self.env)["ids"])

    def test_show_has_what_the_manifest_says(self):
        self.add_ollama("registry.ollama.ai/library/smol/135m", [
            ("params", b'{"temperature":0.3,"stop":["</s>","a b"],"mirostat":2}'),
            ("system", b"You are a pirate.\nArr.")])
        stated = [["temperature", "0.3"], ["stop", "</s>"], ["stop", "a b"], ["mirostat", "2"]]
        self.assertEqual(kvik("show", "smol:135m", "--system", env=self.env),
                         "You are a pirate.\nArr.\n")
        lines = kvik("show", "smol:135m", "--parameters", env=self.env).splitlines()
        self.assertEqual(sorted(line.split(None, 1) for line in lines), sorted(stated))
        told = kvik_json("show", "smol:135m", env=self.env)["ollama"]
        self.assertEqual((told["name"], told["system"]), ("smol:135m", "You are a pirate.\nArr."))
        self.assertEqual(sorted([p["name"], p["value"]] for p in told["parameters"]),
                         sorted(stated))
        text = kvik("show", "smol:135m", env=self.env)
        for word in ("Ollama's smol:135m", "temperature", "a b", "You are a pirate."):
            self.assertIn(word, text)
        file = kvik("show", "smol:135m", "--modelfile", env=self.env)
        for line in ('SYSTEM """You are a pirate.', 'PARAMETER stop "a b"',
                     "PARAMETER temperature 0.3"):
            self.assertIn("\n" + line, file)
        self.assertIsNone(kvik_json("show", MODEL, env=self.env)["ollama"])
        self.refused(2, "--system", "Ollama", arguments=("show", MODEL, "--system"))
        self.refused(2, "--template", arguments=("show", MODEL, "--system", "--template"))
        self.refused(2, "ollama show --license", arguments=("show", MODEL, "--license"))

    def test_chats_of_models_that_share_their_weights_are_apart(self):
        self.env["XDG_STATE_HOME"] = str(self.home / "state")
        for name in ("one", "two"):
            self.add_ollama(f"registry.ollama.ai/library/{name}/1", [
                ("params", b'{"temperature":0,"num_predict":2}'), ("system", b"I am " + name.encode())])
        for name in ("one", "two"):
            with Terminal([BINARY, f"{name}:1"], env=self.env) as chat:
                chat.wait_for_line(">>>")
                chat.enter(f"Hello {name}")
                chat.wait_for(r"- ctx \d+")
                chat.enter("/bye")
                chat.wait_for(r"status 0")
        with Terminal([BINARY, "run", "one:1", "--resume"], env=self.env) as chat:
            chat.wait_for(r"going on after 3 messages")
            chat.enter("/list")
            chat.wait_for(r"system +I am one\n +1 user +Hello one")

    def test_chat_takes_them_too(self):
        self.add_ollama("registry.ollama.ai/library/smol/135m", [
            ("params", b'{"temperature":0,"num_predict":3}'), ("system", b"Answer in French.")])
        said = kvik("chat", "smol:135m", stdin="Hello\n", env=self.env)
        flags = ("--temp", "0", "-n", "3", "--system", "Answer in French.", "--top-k", "40",
                 "--top-p", "0.9", "--repeat-penalty", "1.1")
        self.assertEqual(said, kvik("chat", MODEL, *flags, stdin="Hello\n", env=self.env))

    def test_what_it_brings_is_told_once_and_in_whole_words(self):
        self.add_ollama("registry.ollama.ai/library/smol/135m", [
            ("params", b'{"temperature":0,"num_predict":3,"num_keep":4,"mirostat":2}'),
            ("system", b"Answer in French."), ("template", b"{{ .Prompt }}")])
        for words in (("run", "smol:135m"), ("smol:135m",), ("chat", "smol:135m")):
            with self.subTest(words=words), Terminal([BINARY, *words], columns=50,
                                                     env=self.env) as chat:
                chat.wait_for_line(">>>")
                said = " ".join(chat.screen().split())
                for phrase in ("kvik: smol:135m (Ollama) sets -n 3, --temp 0, --top-k 40",
                               "the chat template is the GGUF's own"):
                    self.assertEqual(said.count(phrase), 1, chat.screen())

    def test_layers_that_kvik_has_not_are_refused_by_name(self):
        for kind, word in (("adapter", "adapter (LoRA)"), ("projector", "projector"),
                           ("tensor", "tensors"), ("model", "several files of weights")):
            self.add_ollama(f"registry.ollama.ai/library/odd/{kind}", [(kind, b"x")])
            self.refused(6, word, arguments=("run", f"odd:{kind}", "Hi"))
            problem = [model["problem"] for model in self.listed()
                       if model["name"] == f"odd:{kind}"]
            self.assertIn(word, problem[0])

    def test_a_store_that_lies_is_harmless(self):
        manifests = {
            "json": "{", "list": "[]", "layers": '{"layers":{}}', "none": '{"layers":[]}',
            "traversal": json.dumps({"layers": [{"mediaType": KIND + "model",
                                                 "digest": "sha256:../../../../etc/passwd"}]}),
            "short": json.dumps({"layers": [{"mediaType": KIND + "model", "digest": "sha256:ab"}]}),
            "number": '{"layers":[3]}', "deep": "[" * 100_000,
            "gone": json.dumps({"layers": [{"mediaType": KIND + "model",
                                            "digest": "sha256:" + "d" * 64}]}),
            "long": " " * (2 << 20),
        }
        for name, text in manifests.items():
            self.add_ollama(f"registry.ollama.ai/library/bad/{name}").write_text(text)
        self.add_ollama("registry.ollama.ai/library/good/1")
        os.mkfifo(self.ollama / "manifests/registry.ollama.ai/library/bad/pipe")
        found = {model["name"]: model["problem"] for model in self.listed()}
        self.assertEqual(set(found), {"good:1", *(f"bad:{name}" for name in manifests)})
        for name in manifests:
            self.assertTrue(found[f"bad:{name}"], name)
            self.refused(3, arguments=("run", f"bad:{name}", "Hi"))
        self.assertIsNone(found["good:1"])

    def test_control_characters_in_names_do_not_reach_the_terminal(self):
        self.add_ollama("registry.ollama.ai/library/a\x1b[2Jb/\u202ec")
        text = kvik("list", env=self.env)
        self.assertNotIn("\x1b", text)
        self.assertIn("a\\x1b[2Jb", text)


class Listing(Stores):
    def test_a_part_of_a_name_chooses(self):
        self.add_ollama("registry.ollama.ai/library/smol/135m")
        self.add_ollama("registry.ollama.ai/library/other/1")
        self.add_file(self.lmstudio / "pub/Smol-GGUF/Smol-Q4_1.gguf")
        found = {model["name"] for model in kvik_json("list", "SMOL", env=self.env)["models"]}
        self.assertEqual(found, {"smol:135m", "pub/Smol-GGUF/Smol-Q4_1.gguf"})
        done = call("list", "nothing-like-it", env=self.env)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("no name has nothing-like-it in it", done.stderr)

    def test_what_its_head_says_cannot_be_run_is_told(self):
        whole = pathlib.Path(MODEL).read_bytes()
        for name, data in (("cut", whole[:100_000]), ("short", whole[:-1000]), ("no", b"no model"),
                           ("other", whole[:200_000].replace(b"llama", b"alpac") +
                            whole[200_000:])):
            path = self.lmstudio / f"pub/{name}/{name}-Q4_1.gguf"
            path.parent.mkdir(parents=True)
            path.write_bytes(data)
        self.add_file(self.lmstudio / "pub/good/good-Q4_1.gguf")
        problems = {model["name"].split("/")[1]: model["problem"] for model in self.listed()}
        self.assertEqual({name for name, problem in problems.items() if problem},
                         {"cut", "short", "no", "other"})
        for name, problem in problems.items():
            done = call("run", f"pub/{name}/{name}-Q4_1.gguf", "Hi", "-n", "1", env=self.env)
            self.assertEqual(done.returncode == 0, problem is None, done.stderr)
        text = kvik("list", env=self.env)
        self.assertIn(" 8 B ", text)
        self.assertIn("cannot run: ~/.lmstudio/", text)

    def test_it_fits_the_terminal(self):
        self.add_ollama("registry.ollama.ai/library/smol/135m")
        self.add_ollama("registry.ollama.ai/library/gone/1", weights="d" * 64)
        self.add_file(self.lmstudio / "a-publisher/A-Repository-With-A-Long-Name/Model-Q4_1.gguf")
        for columns in (80, 40):
            with self.subTest(columns=columns), Terminal([BINARY, "list"], columns=columns,
                                                         env=self.env) as terminal:
                terminal.wait_for("status 0")
                screen = terminal.screen()
                whole = screen.replace("\n", "")
                self.assertIn("a-publisher/A-Repository-With-A-Long-Name/Model-Q4_1.gguf", whole)
                self.assertIn("sha256-dddddddddddd...", whole)
                if columns == 80:
                    self.assertRegex(screen, r"(?m)^smol:135m +\d+\.\d MiB  Q4_1 +Ollama +\d{4}-")
                else:
                    self.assertRegex(screen, r"(?m)^smol:135m\n    \d+\.\d MiB Q4_1, Ollama, \d{4}-")


class LmStudio(Stores):
    def test_names_as_lm_studio_has_them(self):
        path = self.add_file(self.lmstudio / "pub/Smol-135M-Instruct-GGUF/Smol-Q4_1.gguf")
        self.add_file(path.parent / "mmproj-Smol-f16.gguf")
        found = self.listed()
        self.assertEqual([(model["name"], model["store"]) for model in found],
                         [("pub/Smol-135M-Instruct-GGUF/Smol-Q4_1.gguf", "lmstudio")])
        for name in (found[0]["name"], "pub/Smol-135M-Instruct-GGUF", "Smol-135M-Instruct-GGUF",
                     "smol-135m-instruct", "pub/smol-135m-instruct", "smol-135m-instruct@q4_1",
                     "pub/Smol-135M-Instruct-GGUF:Q4_1", "Smol-Q4_1.gguf", "Smol-Q4_1",
                     "lmstudio:smol-135m-instruct"):
            self.assertEqual(self.path_of(name), str(path), name)

    def test_folders_that_were_moved(self):
        old = self.add_file(self.home / ".cache/lm-studio/models/p/r/old-Q8_0.gguf")
        pointed = self.add_file(self.home / "pointed/models/p/r2/pointed-Q8_0.gguf")
        (self.home / ".lmstudio-home-pointer").write_text(str(self.home / "pointed") + "\n")
        chosen = self.add_file(self.home / "chosen/p/r3/chosen-Q8_0.gguf")
        (self.home / "pointed/settings.json").write_text(
            json.dumps({"downloadsFolder": str(self.home / "chosen")}))
        self.assertEqual({model["path"] for model in self.listed()},
                         {str(old), str(pointed), str(chosen)})


class HuggingFace(Stores):
    def test_names_as_hugging_face_has_them(self):
        snapshot = self.add_snapshot("Owner/Repo", COMMIT, "m-Q4_1.gguf", "m-Q8_0.gguf", "a/f16.gguf",
                                     ref="main")
        self.assertEqual([model["name"] for model in self.listed()],
                         ["Owner/Repo:F16", "Owner/Repo:Q4_1", "Owner/Repo:Q8_0"])
        for name in ("Owner/Repo:Q4_1", "Owner/Repo:q4_1", "Owner/Repo/m-Q4_1.gguf",
                     "hf.co/Owner/Repo:Q4_1", "hf:Owner/Repo:Q4_1", "owner/repo:Q4_1",
                     "https://huggingface.co/Owner/Repo:Q4_1", f"Owner/Repo@{COMMIT}:Q4_1",
                     "Owner/Repo@main/m-Q4_1.gguf"):
            self.assertEqual(self.path_of(name), str(snapshot / "m-Q4_1.gguf"), name)
        self.assertEqual(self.path_of("Owner/Repo/a/f16.gguf"), str(snapshot / "a/f16.gguf"))

    def test_the_repository_alone_means_q4_k_m_or_the_only_one(self):
        self.add_snapshot("Owner/One", COMMIT, "m-Q8_0.gguf", ref="main")
        several = self.add_snapshot("Owner/Several", COMMIT, "m-Q8_0.gguf", "m-Q4_K_M.gguf",
                                    ref="main")
        self.assertIn("m-Q8_0", self.path_of("Owner/One"))
        self.assertEqual(self.path_of("Owner/Several"), str(several / "m-Q4_K_M.gguf"))

    def test_several_are_an_error_that_lists_them(self):
        # The same file is one model, however many names it has: these are two files.
        snapshot = self.add_snapshot("Owner/Repo", COMMIT, "m-Q8_0.gguf", ref="main")
        (snapshot / "m-Q5_0.gguf").write_bytes(b"GGUF")
        self.refused(2, "2 models", "hf:Owner/Repo:Q5_0", "hf:Owner/Repo:Q8_0",
                     arguments=("run", "Owner/Repo", "Hi"))
        other = self.lmstudio / "Owner/Repo/m-Q8_0.gguf"
        other.parent.mkdir(parents=True)
        other.write_bytes(b"GGUF")
        self.refused(2, "lmstudio:Owner/Repo/m-Q8_0.gguf", "hf:Owner/Repo:Q8_0",
                     arguments=("show", "owner/repo:q8_0"))

    def test_a_directory_of_safetensors_is_a_model(self):
        snapshot = self.cache / "models--gpt2/snapshots" / COMMIT
        snapshot.mkdir(parents=True)
        (snapshot / "config.json").write_text("{}")
        (snapshot / "model-00001-of-00002.safetensors").write_bytes(b"12345")
        (snapshot / "tokenizer.json").write_text("{}")
        found = self.listed()
        self.assertEqual([(model["name"], model["format"], model["path"], model["bytes"])
                          for model in found], [("gpt2", "safetensors", str(snapshot), 5)])
        self.assertIn("1 of its 2 parts are missing", found[0]["problem"])
        (snapshot / "model-00002-of-00002.safetensors").write_bytes(b"678")
        found = self.listed()
        self.assertEqual([(model["files"], model["bytes"]) for model in found], [(2, 8)])
        self.assertIn("config.json: key 'model_type'", found[0]["problem"])

    def test_revisions_have_names(self):
        self.add_snapshot("Owner/Repo", COMMIT, "m-Q8_0.gguf", ref="main")
        other = self.add_snapshot("Owner/Repo", OTHER_COMMIT, "m-Q8_0.gguf", ref="v2")
        self.assertEqual([model["name"] for model in self.listed()],
                         ["Owner/Repo:Q8_0", "Owner/Repo@v2:Q8_0"])
        for name in ("Owner/Repo@v2", f"Owner/Repo@{OTHER_COMMIT[:12]}:Q8_0"):
            self.assertEqual(self.path_of(name), str(other / "m-Q8_0.gguf"))

    def test_parts_count_as_one(self):
        names = [f"Q8_0/m-Q8_0-0000{i}-of-00003.gguf" for i in (1, 2, 3)]
        self.add_snapshot("Owner/Repo", COMMIT, *names, ref="main")
        found = self.listed()
        self.assertEqual([(model["name"], model["files"], model["bytes"]) for model in found],
                         [("Owner/Repo:Q8_0", 3, 3 * os.path.getsize(MODEL))])
        self.assertTrue(found[0]["path"].endswith(names[0]))

    def test_variables_name_the_folder(self):
        self.add_snapshot("Owner/Repo", COMMIT, "m-Q8_0.gguf", ref="main")
        for variable, folder in (("HF_HOME", self.cache.parent), ("HF_HUB_CACHE", self.cache),
                                 ("XDG_CACHE_HOME", self.cache.parent.parent)):
            found = self.listed(HOME="/nowhere", **{variable: str(folder)})
            self.assertEqual([model["name"] for model in found], ["Owner/Repo:Q8_0"], variable)


class Names(Stores):
    def test_a_path_wins_and_the_name_is_told(self):
        self.add_snapshot("Owner/Repo", COMMIT, "m-Q8_0.gguf", ref="main")
        here = self.home / "Owner/Repo"
        here.parent.mkdir()
        here.symlink_to(MODEL)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.home)
        done = call("show", "Owner/Repo", env=self.env)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.startswith("Owner/Repo\n"))
        self.assertIn("hf:Owner/Repo:Q8_0", done.stderr)
        self.assertIn("snapshots", kvik("show", "hf:Owner/Repo", env=self.env))

    def test_what_is_not_here_names_the_nearest_and_pull(self):
        self.add_ollama("registry.ollama.ai/library/smol/135m")
        self.refused(3, "did you mean smol:135m?", "kvik list", "kvik pull",
                     arguments=("chat", "smol:13m"))
        self.refused(3, "kvik pull hf:Some/Body:Q4_0", arguments=("run", "hf.co/Some/Body:Q4_0"))
        self.refused(3, "No such file", arguments=("run", "./smol:135m", "Hi"))

    def test_every_verb_that_takes_a_model_takes_a_name(self):
        self.add_ollama("registry.ollama.ai/library/smol/135m")
        ids = json.dumps([504, 3575])
        calls = (("run", "smol:135m", "--ids", ids, "-n", "1", "--json"), ("chat", "smol:135m"),
                 ("show", "smol:135m"), ("tokenize", "smol:135m", "--text", "Hi"),
                 ("score", "smol:135m", "--ids", ids), ("template", "smol:135m", "-"),
                 ("bench", "smol:135m", "-p", "4", "--json"),
                 ("doctor", "smol:135m", "--calibrate", "off", "--json"))
        for arguments in calls:
            done = call(*arguments, stdin='[{"role":"user","content":"Hi"}]', env=self.env)
            self.assertEqual(done.returncode, 0, (arguments, done.stderr))

    def test_nothing_here(self):
        self.assertEqual(self.listed(), [])
        if os.path.exists("/usr/share/ollama/.ollama/models"):
            return
        done = call("list", env=self.env)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        for word in ("no models", ".ollama/models", ".lmstudio/models", "huggingface/hub",
                     "kvik pull"):
            self.assertIn(word, done.stderr)
        self.assertEqual(kvik("ls", "--json", env=self.env), kvik("list", "--json", env=self.env))


if __name__ == "__main__":
    unittest.main()
