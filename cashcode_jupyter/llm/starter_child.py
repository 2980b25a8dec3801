"""The program that serves the starter model: `python -m cashcode_jupyter.llm.starter_child`.

Its first line of standard input is a JSON object `{model, name, n_ctx, api_key, owner, temperature}`, its only
line of standard output `{address}` or `{error, detail}`. It lives as long as its standard input: an owner that
ends, however it ends, takes the server with it.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from typing import Any

PROMPT_CACHE_MIB = 256
MAX_THREADS = 8


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the owner, who may only mean a turn
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever llama.cpp prints is log
    wanted: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    _die_with(wanted["owner"])
    server, said = _serve(wanted)
    print(json.dumps(said), file=answer, flush=True)
    answer.close()
    if server is None:
        return 1
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)  # nothing to save, and a running answer must not hold the end up


def _serve(wanted: dict[str, Any]) -> tuple[Any, dict[str, str]]:
    try:
        xllamacpp: Any = importlib.import_module("xllamacpp")  # compiled, without types
    except ImportError as error:
        return None, {"error": "missing", "detail": str(error)}
    params = xllamacpp.CommonParams()
    params.model.path = wanted["model"]
    params.model_alias = {wanted["name"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [wanted["api_key"]]
    params.n_ctx = wanted["n_ctx"]
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads()
    if wanted["temperature"] is not None:
        params.sampling.temp = wanted["temperature"]  # where the request does not say
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.use_jinja = True  # the chat template that the model itself carries
    params.ui = False
    params.endpoint_slots = False
    params.cors_origins = ""
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        return None, {"error": "model", "detail": str(error)}
    return server, {"address": server.listening_address}


def threads() -> int:
    """One core stays free: llama.cpp's threads wait for each other by spinning, and one that has to share its
    core with a browser or a kernel holds all of them up (30 times slower on a busy 2-core machine)."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    return max(1, min(cores - 1, MAX_THREADS))


def _die_with(owner: int) -> None:
    """Linux also tells us when the owner is gone while the model still loads and nobody reads the pipe."""
    if sys.platform == "linux":
        import ctypes

        PR_SET_PDEATHSIG = 1
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != owner:
            os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
