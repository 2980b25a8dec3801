"""Real kernels, driven over jupyter_client as a front end would."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from cashcode_jupyter.testing.fixtures import CashcodeHome

SECONDS = 30.0
Message = dict[str, Any]


@dataclass
class Ran:
    """What one cell published, in order, with the time each message came."""

    messages: list[Message] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    reply: Message = field(default_factory=dict)

    def of(self, kind: str) -> list[Message]:
        return [message["content"] for message in self.messages if message["msg_type"] == kind]

    @property
    def kinds(self) -> list[str]:
        quiet = ("status", "execute_input")
        return [message["msg_type"] for message in self.messages if message["msg_type"] not in quiet]

    @property
    def streamed(self) -> str:
        return "".join(content["text"] for content in self.of("stream"))

    @property
    def shown(self) -> dict[str, Any]:
        """The data of the one display."""
        [display] = self.of("display_data")
        return display["data"]

    @property
    def error(self) -> Message:
        [error] = self.of("error")
        return error


class Kernel:
    """A kernel over its client. `manager` is that of a kernel which the test itself started."""

    def __init__(self, client: BlockingKernelClient, manager: KernelManager | None = None) -> None:
        self.client = client
        self._manager = manager
        self._others: deque[tuple[Message, float]] = deque()
        client.start_channels()
        client.wait_for_ready(timeout=SECONDS)

    @classmethod
    def start(cls, environ: dict[str, str], folder: Path) -> Kernel:
        manager = KernelManager(kernel_name="python3")
        manager.start_kernel(env=environ, cwd=str(folder))
        return cls(manager.client(), manager)

    def send(self, code: str, *, allow_stdin: bool = True, cell_id: str | None = None) -> str:
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": allow_stdin,
            "stop_on_error": False,
        }
        message = self.client.session.msg("execute_request", content)
        if cell_id:
            message["metadata"] = {"cellId": cell_id}
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def collect(self, msg_id: str, until: Callable[[Ran], bool] | None = None, into: Ran | None = None) -> Ran:
        """Messages that answer `msg_id`, to the end of the cell or until the condition holds."""
        ran = into or Ran()
        deadline = time.monotonic() + SECONDS
        seen, self._others = self._others, deque()
        while True:
            if seen:
                message, came = seen.popleft()
            else:
                message = self.client.get_iopub_msg(timeout=max(0.01, deadline - time.monotonic()))
                came = time.monotonic()
            if message["parent_header"].get("msg_id") != msg_id:
                self._others.append((message, came))
                continue
            ran.messages.append(message)
            ran.times.append(came)
            idle = message["msg_type"] == "status" and message["content"]["execution_state"] == "idle"
            if until(ran) if until is not None else idle:
                self._others += seen
                break
        if until is not None:
            return ran
        while (reply := self.client.get_shell_msg(timeout=SECONDS))["parent_header"].get("msg_id") != msg_id:
            pass
        ran.reply = reply["content"]
        return ran

    def run(self, code: str, **options: Any) -> Ran:
        return self.collect(self.send(code, **options))

    def value(self, expression: str) -> Any:
        """The value of an expression, through its repr."""
        ran = self.run(f"print(repr({expression}))")
        assert not ran.of("error"), ran.error
        return eval(ran.streamed)

    def tell(self, comm_id: str, data: Any) -> None:
        """A message of the page to a widget."""
        self.client.shell_channel.send(self.client.session.msg("comm_msg", {"comm_id": comm_id, "data": data}))

    def told(self, comm_id: str) -> Message:
        """The next message of a widget to its page, as it came over the wire."""
        deadline = time.monotonic() + SECONDS
        seen, self._others = self._others, deque()
        while True:
            message, came = (
                seen.popleft()
                if seen
                else (self.client.get_iopub_msg(timeout=max(0.01, deadline - time.monotonic())), time.monotonic())
            )
            if message["msg_type"] == "comm_msg" and message["content"]["comm_id"] == comm_id:
                self._others += seen
                return message
            self._others.append((message, came))

    def asked_for_input(self) -> str:
        """Wait for an input request; returns its prompt."""
        return self.client.get_stdin_msg(timeout=SECONDS)["content"]["prompt"]

    def interrupt(self) -> None:
        assert self._manager is not None
        self._manager.interrupt_kernel()

    def forget(self) -> None:
        """Drop the messages of earlier cells."""
        self._others.clear()

    def close(self) -> None:
        self.client.stop_channels()
        if self._manager is not None:
            self._manager.shutdown_kernel()
            self._manager.cleanup_resources()
            self._manager = None


def clean_environment(**extra: str) -> dict[str, str]:
    """This environment without what a test run or an outer server leaves in it."""
    names = ("PYTEST_", "CASHCODE_SERVER", "CASHCODE_KERNEL", "JPY_")
    return {name: value for name, value in os.environ.items() if not name.startswith(names)} | extra


StartKernel = Callable[..., Kernel]


@pytest.fixture
def start_kernel(cashcode_home: CashcodeHome, tmp_path: Path) -> Iterator[StartKernel]:
    """`start_kernel(NAME=value…)`: a kernel in the workspace, with the extension loaded."""
    kernels: list[Kernel] = []

    def start(**environ: str) -> Kernel:
        runtime = tmp_path / "runtime"
        runtime.mkdir(exist_ok=True)
        environ = {"IPYTHONDIR": str(tmp_path / "ipython"), "JUPYTER_RUNTIME_DIR": str(runtime)} | environ
        kernel = Kernel.start(clean_environment(**environ), cashcode_home.workspace)
        kernels.append(kernel)
        loaded = kernel.run("%load_ext cashcode_jupyter")
        assert not loaded.of("error"), loaded.error
        return kernel

    yield start
    for kernel in kernels:
        kernel.close()


@pytest.fixture(scope="session")
def shared_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    folder = tmp_path_factory.mktemp("kernel")
    environ = {"IPYTHONDIR": str(folder / "ipython"), "JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
    kernel = Kernel.start(clean_environment(**environ), folder)
    yield kernel
    kernel.close()


@pytest.fixture
def kernel(shared_kernel: Kernel, cashcode_home: CashcodeHome) -> Kernel:
    """A kernel as good as new, in this test's workspace and with its folders; starting one takes seconds."""
    names = ("CASHCODE_DATA_DIR", "CASHCODE_CONFIG_DIR", "WORKSPACE_DIR")
    environ = {name: os.environ[name] for name in names}
    fresh = shared_kernel.run(
        f"import os; os.environ.update({environ!r}); os.chdir({str(cashcode_home.workspace)!r})\n"
        "get_ipython().reset()\n"
        "%reload_ext cashcode_jupyter"
    )
    assert not fresh.of("error"), fresh.error
    shared_kernel.forget()
    return shared_kernel
