"""A TCP relay between browser and server that can be cut: what a closed lid or a broken proxy does to a socket."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType

BLOCK = 1 << 16


class Wire:
    """Listens on a loopback port of its own and passes every byte on to `port` and back, while it is whole."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._whole = True
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def cut(self) -> None:
        """Every connection breaks at once, and new ones are refused until `mend`."""
        with self._lock:
            self._whole = False
            ends, self._open = self._open, set()
        for end in ends:
            self._break(end)

    def mend(self) -> None:
        with self._lock:
            self._whole = True

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join(5)

    def __enter__(self) -> Wire:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._target), timeout=5)
                far.settimeout(None)
            except OSError:
                near.close()
                continue
            with self._lock:
                whole = self._whole
                if whole:
                    self._open |= {near, far}
            if not whole:
                self._break(near)
                self._break(far)
                continue
            for source, sink in ((near, far), (far, near)):
                thread = threading.Thread(target=self._pump, args=(source, sink), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while block := source.recv(BLOCK):
                sink.sendall(block)
        for end in (source, sink):
            self._break(end)
        with self._lock:
            self._open -= {source, sink}

    @staticmethod
    def _break(end: socket.socket) -> None:
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
