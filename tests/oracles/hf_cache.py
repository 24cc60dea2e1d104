#!/usr/bin/env python3
"""Whether huggingface_hub finds what `kvik pull` wrote, and kvik what huggingface_hub wrote.

    hf_cache.py     exit status 1 if they differ; there is no record, so --write does the same

Both fetch from the server of tests/e2e/test_pull.py, which listens on this machine alone.
"""
import os
import pathlib
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

# huggingface_hub reads these when it is imported.
HOME = tempfile.TemporaryDirectory()
for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE",
                 "HF_TOKEN", "HF_TOKEN_PATH"):
    os.environ.pop(variable, None)
os.environ.update(HF_HOME=HOME.name, HF_HUB_DISABLE_TELEMETRY="1", HF_HUB_DISABLE_XET="1",
                  HF_HUB_DISABLE_PROGRESS_BARS="1")

import huggingface_hub  # noqa: E402
import test_pull  # noqa: E402
from program import kvik_json  # noqa: E402

GGUF, CONFIG, WEIGHTS = "m-Q4_K_M.gguf", "config.json", "model.safetensors"


def serve():
    """A repository of a GGUF and one of safetensors; the address that serves it."""
    hub = test_pull.Hub()
    hub.files = {GGUF: (os.urandom(100_000), True)}
    server = test_pull.Server(("127.0.0.1", 0), test_pull.Handler)
    server.hub, server.is_cdn, server.cdn = hub, False, ""
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return hub, server, f"http://127.0.0.1:{server.server_port}"


def differences(hub, endpoint):
    """What does not hold, a line each."""
    def check(holds, what):
        if not holds:
            found.append(what)

    found = []
    ours, theirs = pathlib.Path(HOME.name, "ours"), pathlib.Path(HOME.name, "theirs")
    env = {"HF_ENDPOINT": endpoint, "HF_HUB_CACHE": str(ours), "http_proxy": ""}
    sets = [{GGUF: hub.files[GGUF]},
            {CONFIG: (b"{}", False), WEIGHTS: (os.urandom(50_000), True)}]
    for files in sets:
        hub.files = files
        kvik_json("pull", "hf:Owner/Repo", env=env)
        for name in files:
            path = huggingface_hub.hf_hub_download("Owner/Repo", name, cache_dir=ours,
                                                   local_files_only=True)
            check(pathlib.Path(path).read_bytes() == files[name][0], f"{name}: not what was pulled")
            wanted = huggingface_hub.hf_hub_download("Owner/Repo", name, cache_dir=theirs,
                                                     endpoint=endpoint)
            check(os.readlink(path) == os.readlink(wanted), f"{name}: links to another blob")
        env["HF_HUB_CACHE"] = str(theirs)
        again = kvik_json("pull", "hf:Owner/Repo", env=env)
        check(again["fetched_bytes"] == 0, "pull fetches what huggingface_hub had fetched")
        env["HF_HUB_CACHE"] = str(ours)
    scans = []
    for cache in (ours, theirs):
        scan = huggingface_hub.scan_cache_dir(cache)
        check(not scan.warnings, f"{cache.name}: {scan.warnings}")
        scans.append([(repo.repo_id, sorted(revision.refs), revision.commit_hash,
                       sorted((file.file_name, file.blob_path.name) for file in revision.files))
                      for repo in scan.repos for revision in repo.revisions])
        listed = kvik_json("list", env={**env, "HF_HUB_CACHE": str(cache)})["models"]
        names = sorted(model["name"] for model in listed if model["store"] == "huggingface")
        check(names == ["Owner/Repo", "Owner/Repo:Q4_K_M"], f"{cache.name}: kvik lists {names}")
    check(scans[0] == scans[1] and len(scans[0]) == 1, f"scans differ: {scans}")
    layouts = [sorted(path.relative_to(cache).as_posix() for path in cache.rglob("*")
                      if ".locks" not in path.parts and path.name != "CACHEDIR.TAG"
                      and ".no_exist" not in path.parts) for cache in (ours, theirs)]
    check(layouts[0] == layouts[1], f"layouts differ: {layouts}")
    return found


def main():
    hub, server, endpoint = serve()
    found = differences(hub, endpoint)
    server.shutdown()
    for line in found:
        print(line, file=sys.stderr)
    print(f"huggingface_hub {huggingface_hub.__version__}: {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
