"""The child process that serves a local model, seen from its owner: start, address, log tail, end.

Its standard input stays open as long as we live, so it ends with us. All methods block (the start for as long
as the model loads); call them in a worker thread.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import subprocess
import sys
import threading
from collections import deque

from cashcode_jupyter.i18n import _
from cashcode_jupyter.llm.starter_files import StarterFile
from cashcode_jupyter.logs import event, log
from cashcode_jupyter.protocol.errors import LlmServer, LlmUnreachable

LOG = log("starter")
START_TIMEOUT = 120.0
END_TIMEOUT = 1.0
TAIL_LINES, TAIL_CHARS = 100, 300


def missing_runtime() -> LlmUnreachable:
    return LlmUnreachable(
        _('A local model needs xllamacpp, which is not installed. Run: pip install "cashcode-jupyter[local]"')
    )


class StarterServer:
    """One running (or ended) child: it serves `file` with `n_ctx` tokens of context at `address`."""

    def __init__(self, file: StarterFile, *, n_ctx: int, api_key: str) -> None:
        self.file = file
        self.address = ""
        self.n_ctx = n_ctx
        self._api_key = api_key
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._said: queue.Queue[bytes] = queue.Queue(maxsize=1)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def log_tail(self) -> list[str]:
        """The last lines that the server printed, newest last."""
        return list(self._tail)

    def start(self, timeout: float = START_TIMEOUT) -> None:
        """Start the child and wait until it answers; `LlmUnreachable` or `LlmServer` when it does not."""
        process = self._spawn()
        try:
            line = self._said.get(timeout=timeout)
        except queue.Empty:
            self.stop()
            raise LlmServer(
                _(
                    "The local model did not start within {seconds:.0f} seconds. If this repeats, use a smaller "
                    "one: cashcode starter PATH.gguf"
                ).format(seconds=timeout)
            ) from None
        answer = json.loads(line) if line.endswith(b"\n") else {}  # less is what a dying child leaves
        if "address" in answer:
            self.address = answer["address"]
            event(LOG, logging.INFO, "starter.started", model=self.file.model, n_ctx=self.n_ctx, pid=process.pid)
            return
        self.stop()
        event(
            LOG,
            logging.ERROR,
            "starter.failed",
            model=self.file.model,
            returncode=process.returncode,
            reason=answer.get("error", "ended"),
            tail=[line.replace(str(self.file.path), self.file.path.name) for line in self.log_tail()[-8:]],
        )
        if answer.get("error") == "missing":
            raise missing_runtime()
        raise LlmServer(
            _("The local model {model} could not be loaded; the log says why. Another file: {command}").format(
                model=self.file.model, command="cashcode starter PATH.gguf"
            )
        )

    def _spawn(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._ended:
                raise LlmServer(_("The local model was stopped."))
            # -P: a file in the working folder must not stand in for a module. A session of its own: an
            # interrupt of the notebook kernel goes to the kernel's whole process group.
            process = self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "cashcode_jupyter.llm.starter_child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        threading.Thread(target=self._read_log, name="cashcode-starter-log", daemon=True).start()
        threading.Thread(target=self._read_answer, name="cashcode-starter-answer", daemon=True).start()
        wanted = {
            "model": str(self.file.path),
            "name": self.file.model,
            "n_ctx": self.n_ctx,
            "api_key": self._api_key,
            "owner": os.getpid(),
            "temperature": 0.0 if self.file.tiny else None,  # what is so small rambles when it may choose
        }
        assert process.stdin
        try:
            process.stdin.write(json.dumps(wanted).encode() + b"\n")
            process.stdin.flush()
        except (OSError, ValueError):  # it is gone, or `end` closed its pipe; `start` sees that and says so
            event(LOG, logging.DEBUG, "starter.pipe_closed", pid=process.pid)
        return process

    def _read_answer(self) -> None:
        assert self._process and self._process.stdout
        with self._process.stdout as stream:
            self._said.put(stream.readline(65536))

    def _read_log(self) -> None:
        assert self._process and self._process.stderr
        with self._process.stderr as stream:
            while line := stream.readline(8192):
                self._tail.append(line.decode("utf-8", "replace").rstrip()[:TAIL_CHARS])
        self._process.wait()  # reaps a child that ended by itself
        if not self._ended and self.address:
            event(LOG, logging.WARNING, "starter.ended", pid=self.pid, returncode=self._process.returncode)

    def stop(self) -> None:
        """End the child, at once if it is willing, and reap it. Safe to call twice and while it starts."""
        with self._lock:
            self._ended = True
            process = self._process
        if process is None:
            return
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(END_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if process.stdin:
            try:
                process.stdin.close()
            except OSError:
                event(LOG, logging.DEBUG, "starter.pipe_closed", pid=process.pid)
