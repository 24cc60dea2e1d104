"""`kvik pull` against a server on this machine that behaves as Hugging Face does, and worse."""
import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

from program import BINARY, MODEL, call, environment, kvik_json

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_secretsecretsecret"


def git_sha1(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class Hub:
    """A repository, and how the server misbehaves. `seen` has all requests: (port, method, path, headers)."""

    def __init__(self):
        self.files = {}          # name: (bytes, is_lfs)
        self.seen = []
        self.listing = None      # bytes instead of the true list
        self.faults = []         # statuses of the next GETs that match `fault_at`; None: none
        self.fault_at = "/"
        self.retry_after = "0"
        self.error_code = None
        self.cut_at = []         # after how many bytes of a file the next GETs are cut
        self.ignores_range = False
        self.lies_in_range = False
        self.redirect = None     # "{cdn}{path}" or any other address
        self.sent = {}           # name: bytes sent instead of the true ones
        self.length_off = 0
        self.extra = b""         # sent behind the end, without a length
        self.silent_s = 0
        self.head = {}           # headers of HEAD that replace the true ones
        self.needs_token = False

    def requests(self, method="GET", part="/resolve/"):
        return [one for one in self.seen if one[1] == method and part in one[2]]

    def list_bytes(self):
        if self.listing is not None:
            return self.listing
        siblings = []
        for name, (data, is_lfs) in self.files.items():
            entry = {"rfilename": name, "size": len(data), "blobId": git_sha1(data)}
            if is_lfs:
                entry["lfs"] = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data),
                                "pointerSize": 130}
            siblings.append(entry)
        return json.dumps({"id": "Owner/Repo", "sha": COMMIT, "siblings": siblings}).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    @property
    def hub(self):
        return self.server.hub

    def answer(self, status, headers=(), body=b"", length=None):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        if length is not False:
            self.send_header("Content-Length", str(len(body) if length is None else length))
        else:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "GET":
            with contextlib.suppress(OSError):
                self.wfile.write(body)

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        hub = self.hub
        hub.seen.append((self.server.server_port, self.command, self.path, dict(self.headers)))
        if hub.faults and hub.fault_at in self.path and self.command == "GET":
            headers = {"Retry-After": hub.retry_after}
            if hub.error_code:
                headers["X-Error-Code"] = hub.error_code
            status = hub.faults.pop(0)
            if status is not None:
                return self.answer(status, headers, b"no")
        if hub.needs_token and not self.server.is_cdn and \
                self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.answer(401, {"X-Error-Code": hub.error_code or "RepoNotFound"}, b"no")
        if self.path.startswith("/api/models/"):
            if "/moved/" in self.path:
                return self.answer(307, {"Location": self.path.replace("/moved/", "/Owner/")})
            if "/Owner/Repo/revision/" not in self.path:
                return self.answer(404, {"X-Error-Code": "RepoNotFound"})
            return self.answer(200, {"Content-Type": "application/json"}, hub.list_bytes())
        name = re.sub(r"^.*/resolve/([0-9a-f]{40}|main)/", "", self.path.split("?")[0])
        if name not in hub.files:
            return self.answer(404, {"X-Error-Code": "EntryNotFound"})
        return self.send_file(name)

    def send_file(self, name):
        hub = self.hub
        data, is_lfs = hub.files[name]
        headers = {"X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        if is_lfs:
            headers["X-Linked-Etag"] = f'"{hashlib.sha256(data).hexdigest()}"'
            headers["X-Linked-Size"] = str(len(data))
            headers["ETag"] = '"of-the-cdn"'
        else:
            headers["ETag"] = f'"{git_sha1(data)}"'
        if is_lfs and hub.redirect and not self.server.is_cdn:
            headers["Location"] = hub.redirect.format(cdn=self.server.cdn, path=self.path)
            return self.answer(302, {**headers, **hub.head}, b"elsewhere")
        if self.command == "HEAD":
            return self.answer(200, {**headers, **hub.head}, data)
        if hub.silent_s:
            seconds, hub.silent_s = hub.silent_s, 0
            time.sleep(seconds)
        body, begin, status = hub.sent.get(name, data), 0, 200
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if asked and not hub.ignores_range:
            begin = int(asked[1])
            if begin >= len(body):
                return self.answer(416)
            shown = 0 if hub.lies_in_range else begin
            headers["Content-Range"] = f"bytes {shown}-{len(body) - 1}/{len(body)}"
            status = 206
        body = body[begin:]
        if hub.cut_at:
            n = hub.cut_at.pop(0)
            self.answer(status, headers, body[:n], len(body))
            self.close_connection = True
            return None
        if hub.extra:
            return self.answer(status, headers, body + hub.extra, False)
        return self.answer(status, headers, body, len(body) + hub.length_off)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that hangs up is what some of the tests are about."""


class Pull(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        self.hub = Hub()
        self.servers = []
        for is_cdn in (False, True):
            server = Server(("127.0.0.1", 0), Handler)
            server.hub, server.is_cdn = self.hub, is_cdn
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
            self.addCleanup(server.server_close)
            self.addCleanup(server.shutdown)
            self.servers.append(server)
        own, cdn = self.servers
        own.cdn = cdn.cdn = f"http://127.0.0.1:{cdn.server_port}"
        self.endpoint = f"http://127.0.0.1:{own.server_port}"
        self.env = {"HOME": str(self.home), "HF_ENDPOINT": self.endpoint, "http_proxy": ""}
        for name in ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME",
                     "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HUB_OFFLINE",
                     "TRANSFORMERS_OFFLINE", "OLLAMA_MODELS", "CURL_CA_BUNDLE",
                     "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "https_proxy", "HTTPS_PROXY",
                     "ALL_PROXY", "all_proxy"):
            self.env[name] = ""
        self.root = self.home / ".cache/huggingface/hub/models--Owner--Repo"
        self.data = os.urandom(300_000)
        self.hub.files = {"m-Q4_K_M.gguf": (self.data, True), "m-Q8_0.gguf": (b"eight", True),
                          "README.md": (b"read me", False)}
        self.checksum = hashlib.sha256(self.data).hexdigest()
        self.blob = self.root / "blobs" / self.checksum
        self.part = self.root / "blobs" / (self.checksum + ".incomplete")

    def pulled(self, what="hf:Owner/Repo", *flags, **env):
        return kvik_json("pull", what, *flags, env={**self.env, **env})

    def fails(self, status, *words, what="hf:Owner/Repo", flags=(), **env):
        done = call("pull", what, *flags, env={**self.env, **env})
        self.assertEqual(done.returncode, status, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(done.stdout, "")
        self.nothing_has_a_name()
        return done.stderr

    def nothing_has_a_name(self):
        self.assertFalse(self.blob.exists())
        self.assertEqual(list(self.root.glob("snapshots/**/*.gguf")), [])
        self.assertFalse((self.root / "refs").exists())

    def is_whole(self, path=None):
        path = pathlib.Path(path or self.root / "snapshots" / COMMIT / "m-Q4_K_M.gguf")
        self.assertEqual(path.read_bytes(), self.data)
        self.assertEqual(os.readlink(path), f"../../blobs/{self.checksum}")
        self.assertFalse(self.part.exists())


class Fetching(Pull):
    def test_the_layout_is_that_of_the_hugging_face_cache(self):
        got = self.pulled()
        self.is_whole(got["path"])
        self.assertEqual((self.root / "refs/main").read_text(), COMMIT)
        self.assertEqual((got["name"], got["commit"], got["files"], got["bytes"],
                          got["fetched_bytes"]),
                         ("Owner/Repo:Q4_K_M", COMMIT, 1, len(self.data), len(self.data)))
        self.assertEqual(sorted(p.name for p in (self.root / "blobs").iterdir()), [self.checksum])
        listed = kvik_json("list", env=self.env)["models"]
        self.assertIn((got["name"], got["path"]), [(m["name"], m["path"]) for m in listed])
        before = len(self.hub.requests())
        self.assertEqual(self.pulled()["fetched_bytes"], 0)
        self.assertEqual(len(self.hub.requests()), before)

    def test_the_path_goes_to_stdout_and_the_rest_to_stderr(self):
        done = call("pull", "hf:Owner/Repo", env=self.env)
        self.assertEqual(done.stdout, f"{self.root}/snapshots/{COMMIT}/m-Q4_K_M.gguf\n")
        self.assertIn("fetching m-Q4_K_M.gguf", done.stderr)
        self.assertIn("kvik chat Owner/Repo:Q4_K_M", done.stderr)

    def test_which_file(self):
        for what in ("hf:Owner/Repo:Q8_0", "Owner/Repo:q8_0", "hf:Owner/Repo/m-Q8_0.gguf",
                     "hf.co/Owner/Repo:Q8_0",
                     "https://huggingface.co/Owner/Repo/blob/main/m-Q8_0.gguf?download=true"):
            self.assertTrue(self.pulled(what)["path"].endswith("/m-Q8_0.gguf"), what)
        error = call("pull", "hf:Owner/Repo:Q3_K_S", env=self.env)
        self.assertEqual(error.returncode, 2)
        for word in ("no GGUF for Q3_K_S", ":Q4_K_M (0.00 GB)", ":Q8_0"):
            self.assertIn(word, error.stderr)
        del self.hub.files["m-Q4_K_M.gguf"]
        self.hub.files["m-Q2_K.gguf"] = (b"two", True)
        error = call("pull", "hf:Owner/Repo", env=self.env)
        self.assertEqual((error.returncode, error.stdout), (2, ""))
        self.assertIn(":Q2_K", error.stderr)
        del self.hub.files["m-Q2_K.gguf"]
        self.assertTrue(self.pulled()["path"].endswith("/m-Q8_0.gguf"))

    def test_parts_come_together(self):
        names = [f"Q6_K/m-Q6_K-0000{i}-of-00003.gguf" for i in (1, 2, 3)]
        for name in names:
            self.hub.files[name] = (name.encode() * 1000, True)
        self.hub.files["mmproj-Q6_K.gguf"] = (b"eyes", True)
        got = self.pulled("hf:Owner/Repo:Q6_K")
        self.assertEqual(got["files"], 3)
        self.assertTrue(got["path"].endswith(names[0]))
        for name in names:
            path = self.root / "snapshots" / COMMIT / name
            self.assertEqual(path.read_bytes(), name.encode() * 1000)
            self.assertTrue(os.readlink(path).startswith("../../../blobs/"))
        del self.hub.files[names[1]]
        self.fails_with_missing_part()

    def fails_with_missing_part(self):
        done = call("pull", "hf:Owner/Repo:Q6_K", env=self.env)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("1 of the 3 parts", done.stderr)

    def test_a_directory_of_safetensors(self):
        files = {"config.json": (b"{}", False), "tokenizer.json": (b"{ }", False),
                 "model-00001-of-00002.safetensors": (b"one", True),
                 "model-00002-of-00002.safetensors": (b"two", True),
                 "model.safetensors.index.json": (b"{  }", False),
                 "generation_config.json": (b"", False), "README.md": (b"no", False),
                 "pytorch_model.bin": (b"no", True), "onnx/model.onnx": (b"no", True)}
        self.hub.files = files
        got = self.pulled()
        folder = pathlib.Path(got["path"])
        self.assertEqual(folder, self.root / "snapshots" / COMMIT)
        wanted = {name for name, (data, _) in files.items() if data != b"no"}
        self.assertEqual({p.relative_to(folder).as_posix() for p in folder.rglob("*")}, wanted)
        for name in wanted:
            self.assertEqual((folder / name).read_bytes(), files[name][0])
        order = [one[2].rsplit("/", 1)[1] for one in self.hub.requests()]
        self.assertEqual(order[-1], "config.json")
        listed = kvik_json("list", env=self.env)["models"]
        self.assertEqual([(m["name"], m["path"]) for m in listed], [("Owner/Repo", str(folder))])

    def test_revisions(self):
        got = self.pulled("hf:Owner/Repo@refs/pr/1:Q8_0")
        self.assertIn("/revision/refs%2Fpr%2F1?", self.hub.seen[0][2])
        self.assertEqual((self.root / "refs/refs/pr/1").read_text(), COMMIT)
        self.assertFalse((self.root / "refs/main").exists())
        self.assertEqual(got["name"], "Owner/Repo@refs/pr/1:Q8_0")
        self.pulled("hf:Owner/Repo", "--revision", COMMIT)
        self.assertFalse((self.root / "refs" / COMMIT).exists())
        self.is_whole()

    def test_where_it_goes(self):
        for variable, folder in (("HF_HOME", "a/hub"), ("HF_HUB_CACHE", "b"),
                                 ("XDG_CACHE_HOME", "c/huggingface/hub")):
            place = self.home / folder.split("/")[0]
            got = self.pulled("hf:Owner/Repo:Q8_0", **{variable: str(place)})
            self.assertTrue(got["path"].startswith(f"{self.home}/{folder}/models--"), got["path"])

    def test_a_repository_that_was_renamed(self):
        self.pulled("hf:moved/Repo")


class Tokens(Pull):
    def test_the_token_opens_and_goes_to_no_other_host(self):
        self.hub.needs_token = True
        self.hub.redirect = "{cdn}{path}"
        self.fails(1, "HF_TOKEN", "no such repository, or it is private")
        (self.home / "token").write_text(TOKEN + "\n")
        self.pulled(HF_TOKEN_PATH=str(self.home / "token"))
        self.is_whole()
        cdn = self.servers[1].server_port
        seen = [one for one in self.hub.seen if one[0] == cdn]
        self.assertTrue(seen)
        self.assertFalse([one for one in seen if "Authorization" in one[3]])
        self.pulled("hf:Owner/Repo:Q8_0", HF_TOKEN=TOKEN)

    def test_a_token_never_shows(self):
        self.hub.needs_token = True
        wrong = "hf_wrongwrongwrong"
        error = self.fails(1, "the token is not accepted", HF_TOKEN=wrong)
        self.assertNotIn(wrong, error)
        error = self.fails(2, "control character", HF_TOKEN=wrong + "\nEvil: header")
        self.assertNotIn(wrong, error)

    def test_a_gated_repository(self):
        self.hub.needs_token, self.hub.error_code = True, "GatedRepo"
        self.fails(1, "accept the terms", "HF_TOKEN")
        self.hub.faults, self.hub.needs_token = [403], False
        self.fails(1, "accept the terms", HF_TOKEN=TOKEN)


class Trouble(Pull):
    def test_cuts_are_resumed_where_they_were(self):
        self.hub.cut_at = [1000, 100_000, 50_000]
        self.assertEqual(self.pulled()["fetched_bytes"], len(self.data))
        self.is_whole()
        ranges = [one[3].get("Range") for one in self.hub.requests()]
        self.assertEqual(ranges[:2], [None, "bytes=1000-"])
        self.assertEqual(len(ranges), 4)

    def test_a_part_of_an_earlier_try_is_gone_on_with(self):
        self.part.parent.mkdir(parents=True)
        self.part.write_bytes(self.data[:200_000])
        self.assertEqual(self.pulled()["fetched_bytes"], 100_000)
        self.is_whole()

    def test_a_whole_part_needs_no_request(self):
        self.part.parent.mkdir(parents=True)
        self.part.write_bytes(self.data)
        self.assertEqual(self.pulled()["fetched_bytes"], 0)
        self.assertEqual(self.hub.requests(), [])
        self.is_whole()

    def test_a_part_that_is_damaged_or_too_long_is_fetched_anew(self):
        for left in (b"x" * 1000, self.data + b"more", b"y" * len(self.data)):
            self.part.parent.mkdir(parents=True, exist_ok=True)
            self.part.write_bytes(left)
            self.pulled()
            self.is_whole()
            self.blob.unlink()

    def test_a_server_that_ignores_ranges(self):
        self.hub.cut_at, self.hub.ignores_range = [1000], True
        self.pulled()
        self.is_whole()

    def test_a_server_that_sends_another_range(self):
        self.hub.cut_at, self.hub.lies_in_range = [1000], True
        self.fails(1, "asked for the bytes from 1000")

    def test_a_wrong_checksum_keeps_nothing(self):
        self.hub.sent["m-Q4_K_M.gguf"] = self.data[:-1] + bytes([self.data[-1] ^ 1])
        self.fails(1, "its checksum is not", self.checksum)
        self.assertFalse(self.part.exists())
        self.hub.sent = {}
        self.pulled()
        self.is_whole()

    def test_small_files_are_checked_as_well(self):
        self.hub.files = {"config.json": (b"{}", False), "model.safetensors": (b"1", True)}
        self.hub.sent["config.json"] = b"[]"
        self.fails(1, "its checksum is not", git_sha1(b"{}"))

    def test_lengths_that_lie(self):
        self.hub.length_off = 5
        self.fails(1, "300005 bytes where 300000 are due")
        self.hub.length_off, self.hub.extra = 0, b"more"
        self.fails(1, "sends more than the 300000 bytes")
        self.assertLessEqual(self.part.stat().st_size, len(self.data))

    def test_what_the_address_says_must_fit_the_list(self):
        for header, value in (("X-Linked-Etag", f'"{"0" * 64}"'), ("X-Linked-Size", "17"),
                              ("X-Repo-Commit", "f" * 40)):
            self.hub.head = {header: value}
            self.fails(1, "in the list of files")

    def test_a_busy_server_is_asked_again(self):
        self.hub.faults = [503, 429]
        self.pulled()
        self.hub.fault_at, self.hub.faults = "/resolve/", [500]
        self.pulled("hf:Owner/Repo:Q8_0")
        self.is_whole()

    def test_a_server_that_stays_busy(self):
        self.hub.faults, self.hub.retry_after = [429] * 20, "1000"
        self.fails(1, "too many requests", "HF_TOKEN")
        self.assertEqual(len(self.hub.seen), 1)

    def test_what_is_not_there(self):
        self.fails(1, "no such repository", what="hf:Owner/Nothing")
        self.fails(2, "has no file 'no.gguf'", "Q8_0", what="hf:Owner/Repo/no.gguf")
        self.hub.faults, self.hub.error_code = [404], "RevisionNotFound"
        self.fails(1, "no such revision", what="hf:Owner/Repo@v9")
        self.hub.files = {"README.md": (b"read me", False)}
        self.fails(6, "neither a GGUF nor config.json with safetensors")

    def test_silence_is_a_cut(self):
        self.hub.silent_s = 8
        began = time.monotonic()
        self.pulled("hf:Owner/Repo", "--timeout", "1")
        self.assertLess(time.monotonic() - began, 8)
        self.is_whole()

    def test_a_server_that_cannot_be_reached_is_told_at_once(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()
        for endpoint in (self.endpoint, "http://no-such-host.invalid"):
            began = time.monotonic()
            error = self.fails(1, "cannot be reached", "HF_ENDPOINT", HF_ENDPOINT=endpoint)
            self.assertEqual(error.count("\n"), 1, error)
            self.assertLess(time.monotonic() - began, 10)

    def test_ctrl_c_while_it_waits(self):
        self.hub.faults, self.hub.retry_after = [503] * 9, "60"
        process = subprocess.Popen([BINARY, "pull", "hf:Owner/Repo"], stderr=subprocess.PIPE,
                                   encoding="utf-8", env=environment(self.env))
        self.assertIn("trying again in", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        self.assertEqual(process.returncode, 130)

    def test_ctrl_c_leaves_a_part_that_is_gone_on_with(self):
        self.hub.cut_at, self.hub.fault_at = [150_000], "/resolve/"
        self.hub.faults, self.hub.retry_after = [None, 503], "60"
        process = subprocess.Popen([BINARY, "pull", "hf:Owner/Repo"], stderr=subprocess.PIPE,
                                   encoding="utf-8", env=environment(self.env))
        while "trying again in 60" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=10)
        self.assertEqual(process.returncode, 130)
        self.assertIn("the same command goes on with it", error)
        self.nothing_has_a_name()
        n_here = self.part.stat().st_size
        self.assertEqual(self.part.read_bytes(), self.data[:n_here])
        self.assertGreater(n_here, 0)
        self.assertEqual(self.pulled()["fetched_bytes"], len(self.data) - n_here)
        self.is_whole()

    def test_several_at_once_fetch_it_once(self):
        self.hub.silent_s = 1
        processes = [subprocess.Popen([BINARY, "pull", "hf:Owner/Repo"], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, encoding="utf-8",
                                      env=environment(self.env)) for _ in range(4)]
        for process in processes:
            _, error = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, error)
        self.is_whole()
        self.assertEqual(len(self.hub.requests()), 1)

    def test_no_room(self):
        huge = 1 << 49
        listed = json.loads(self.hub.list_bytes())
        listed["siblings"][0]["lfs"]["size"] = huge
        self.hub.listing = json.dumps(listed).encode()
        self.hub.head = {"X-Linked-Size": str(huge)}
        self.fails(3, "make room", "are free")
        self.assertEqual(self.hub.requests(), [])


class Tls(Pull):
    """The same server behind a certificate that nobody has signed."""

    def setUp(self):
        super().setUp()
        self.certificate, key = self.home / "certificate.pem", self.home / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", key, "-out", self.certificate], check=True, capture_output=True)
        server = Server(("127.0.0.1", 0), Handler)
        server.hub, server.is_cdn, server.cdn = self.hub, False, self.servers[0].cdn
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.env["HF_ENDPOINT"] = f"https://127.0.0.1:{server.server_port}"

    def test_a_certificate_must_be_trusted(self):
        self.fails(1, "certificate", "CURL_CA_BUNDLE", HF_TOKEN=TOKEN)
        self.assertEqual(self.hub.seen, [])
        for variable in ("CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"):
            self.pulled(HF_TOKEN=TOKEN, **{variable: str(self.certificate)})
        self.is_whole()

    def test_https_leads_nowhere_else(self):
        self.hub.redirect = "{cdn}{path}"
        self.fails(1, "only https is followed", CURL_CA_BUNDLE=str(self.certificate),
                   HF_TOKEN=TOKEN)
        ports = {one[0] for one in self.hub.seen}
        self.assertNotIn(self.servers[1].server_port, ports)


class Hostile(Pull):
    def listed(self, siblings, **more):
        self.hub.listing = json.dumps({"sha": COMMIT, "siblings": siblings, **more}).encode()

    def test_names_that_leave_their_folder_are_never_used(self):
        names = ["../../../evil-Q4_K_M.gguf", "/tmp/evil-Q4_K_M.gguf", "a/../../evil-Q4_K_M.gguf",
                 "a//evil-Q4_K_M.gguf", "./evil-Q4_K_M.gguf", "a\\..\\evil-Q4_K_M.gguf",
                 "evil\x1b[2J-Q4_K_M.gguf", "evil\n-Q4_K_M.gguf", "x" * 300 + "-Q4_K_M.gguf", ""]
        self.listed([{"rfilename": name, "size": 1, "blobId": "0" * 40} for name in names] +
                    [{"rfilename": 3}, 7])
        error = self.fails(6, "neither a GGUF")
        self.assertIn(f"{len(names) + 2} of the names", error)
        self.assertNotIn("\x1b", error)
        self.assertEqual([p for p in self.home.rglob("*") if "evil" in p.name], [])

    def test_lists_that_are_none(self):
        for listing in (b"", b"{", b"[]", b"{}", b'{"sha":"main","siblings":[]}', b"\xff",
                        json.dumps({"sha": "../" * 14, "siblings": []}).encode(),
                        json.dumps({"sha": COMMIT, "siblings": {}}).encode(), b"[" * 100_000,
                        json.dumps({"sha": COMMIT, "siblings": [0] * 100_001}).encode()):
            self.hub.listing = listing
            self.fails(1, "HF_ENDPOINT")

    def test_checksums_that_are_none(self):
        self.listed([{"rfilename": "a-Q4_K_M.gguf", "size": 5,
                      "lfs": {"sha256": "../../../evil", "size": 5}}])
        self.hub.files["a-Q4_K_M.gguf"] = (b"abcde", True)
        self.hub.head = {"X-Linked-Etag": '"../../../../evil"'}
        self.fails(1, "names no checksum")

    def test_redirects_that_are_refused(self):
        for address in ("file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/x",
                        "javascript:1", "http:///"):
            self.hub.redirect = address
            self.fails(1, "refused")
        self.hub.redirect = self.endpoint + "{path}"
        self.fails(1, "redirects more than")

    def test_words_that_are_no_repository(self):
        for what in ("hf:", "hf:Owner", "qwen2.5:0.5b", "hf:../..", "hf:Owner/..", "hf:a/b/../c",
                     "hf:Owner/Repo:", "hf:Owner/Repo@", "hf:Owner/Repo@../x", "hf:O wner/Repo",
                     "https://elsewhere.example/Owner/Repo", "hf:Owner/Repo:a/b", "hf:-a/b",
                     "hf:Owner/Re--po", "hf:Owner/Repo@a b", "hf:Owner/Repo/\x1bm.gguf"):
            self.fails(2, what=what)
        self.assertEqual(self.hub.seen, [])

    def test_an_endpoint_that_is_none(self):
        for endpoint in ("file:///etc", "elsewhere", "ftp://127.0.0.1"):
            self.fails(2, "HF_ENDPOINT", HF_ENDPOINT=endpoint)


class FetchedByHf(Pull):
    """`-hf OWNER/REPO[:QUANT]` of the verbs that take a MODEL."""

    def setUp(self):
        super().setUp()
        self.hub.files["m-Q4_K_M.gguf"] = (pathlib.Path(MODEL).read_bytes(), True)

    def shown(self, *words, **env):
        return call("show", "--json", *words, env={**self.env, **env})

    def test_what_is_not_here_is_fetched_and_what_is_here_is_not(self):
        done = self.shown("-hf", "Owner/Repo:Q4_K_M")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fetching m-Q4_K_M.gguf", done.stderr)
        path = json.loads(done.stdout)["file"]
        self.assertEqual(path, f"{self.root}/snapshots/{COMMIT}/m-Q4_K_M.gguf")
        n_seen = len(self.hub.seen)
        for words in (("-hf", "Owner/Repo:Q4_K_M"), ("-hfr", "Owner/Repo"), ("Owner/Repo",),
                      ("-hf", "Owner/Repo", "--offline")):
            done = self.shown(*words)
            self.assertEqual(json.loads(done.stdout)["file"], path, done.stderr)
        self.assertEqual(len(self.hub.seen), n_seen)
        answer = call("-hf", "Owner/Repo", "-p", "Hi", "-n", "1", env=self.env)
        self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_offline_nothing_is_asked_for(self):
        for words, env in ((("--offline",), {}), ((), {"KVIK_OFFLINE": "1"}),
                           ((), {"HF_HUB_OFFLINE": "1"}), ((), {"TRANSFORMERS_OFFLINE": "1"})):
            done = self.shown("-hf", "Owner/Repo", *words, **env)
            self.assertEqual(done.returncode, 3, done.stderr)
            for word in ("Owner/Repo", "forbids", "kvik pull hf:Owner/Repo", "kvik list"):
                self.assertIn(word, done.stderr)
        (self.home / "config.toml").write_text("offline = true\n")
        done = self.shown("-hf", "Owner/Repo", "--config", str(self.home / "config.toml"))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(self.hub.seen, [])

    def test_a_model_that_is_only_named_is_not_fetched(self):
        for name in ("Owner/Repo", "hf:Owner/Repo"):
            done = self.shown(name)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("kvik pull hf:Owner/Repo", done.stderr)
        self.assertEqual(self.hub.seen, [])

    def test_a_name_that_is_none(self):
        done = self.shown("-hf", "Owner")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(self.hub.seen, [])


class Offline(Pull):
    def test_no_network_is_asked(self):
        for flags, env in ((("--offline",), {}), ((), {"KVIK_OFFLINE": "1"}),
                           ((), {"HF_HUB_OFFLINE": "1"}), ((), {"HF_HUB_OFFLINE": "ON"}),
                           ((), {"TRANSFORMERS_OFFLINE": "yes"})):
            self.fails(2, "forbids", flags=flags, **env)
        self.assertEqual(self.hub.seen, [])
        done = call("run", "Owner/Repo", "Hi", env=self.env)
        self.assertEqual(done.returncode, 3)
        self.assertIn("kvik pull hf:Owner/Repo", done.stderr)
        call("list", env=self.env)
        self.assertEqual(self.hub.seen, [])


if __name__ == "__main__":
    unittest.main()
