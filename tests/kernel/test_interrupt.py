from __future__ import annotations

import time

from cashcode_jupyter.testing import directive
from cashcode_jupyter.testing.model import ScriptedModel
from tests.kernel.conftest import Kernel, Ran


def warm(kernel: Kernel, model: ScriptedModel) -> None:
    """Load what the first question loads."""
    kernel.run("%%cashcode\nwarm up")
    model.clear()


def interrupt(kernel: Kernel, msg_id: str, ran: Ran | None = None) -> tuple[Ran, float]:
    started = time.monotonic()
    kernel.interrupt()
    ran = kernel.collect(msg_id, into=ran)
    return ran, ran.times[-1] - started


def test_a_silent_model_is_interrupted_within_300_ms(kernel: Kernel, scripted_model: ScriptedModel):
    warm(kernel, scripted_model)
    msg_id = kernel.send("%%cashcode\n" + directive(first_ms=20_000))
    assert scripted_model.wait_for(lambda model: bool(model.requests))
    ran, seconds = interrupt(kernel, msg_id)
    assert seconds < 0.3
    assert ran.error["ename"] == "KeyboardInterrupt"
    assert scripted_model.wait_for(lambda model: model.aborted == 1)


def test_what_was_streamed_stays_when_the_cell_is_interrupted(kernel: Kernel, scripted_model: ScriptedModel):
    warm(kernel, scripted_model)
    msg_id = kernel.send("%%cashcode\n" + directive(chunks=500, size=6, delay_ms=20))
    ran = kernel.collect(msg_id, until=lambda ran: len(ran.streamed) > 30)
    ran, seconds = interrupt(kernel, msg_id, ran)
    assert seconds < 0.3
    assert ran.shown["text/markdown"] == f"{ran.streamed}\n\n*(interrupted)*"
    assert len(ran.error["traceback"]) == 1
    assert scripted_model.wait_for(lambda model: model.aborted == 1)


def test_the_chat_goes_on_after_an_interrupt(kernel: Kernel, scripted_model: ScriptedModel):
    warm(kernel, scripted_model)
    msg_id = kernel.send("%%cashcode\n" + directive(chunks=500, size=6, delay_ms=20))
    ran = kernel.collect(msg_id, until=lambda ran: len(ran.streamed) > 30)
    interrupt(kernel, msg_id, ran)
    assert kernel.run("%%cashcode\n" + directive(say="Still here.")).shown["text/plain"] == "Still here."


def test_ask_is_interrupted_like_a_cell(kernel: Kernel, scripted_model: ScriptedModel):
    warm(kernel, scripted_model)
    kernel.run("import cashcode_jupyter as cashcode")
    msg_id = kernel.send(f"cashcode.ask({directive(first_ms=20_000)!r})")
    assert scripted_model.wait_for(lambda model: bool(model.requests))
    ran, seconds = interrupt(kernel, msg_id)
    assert seconds < 0.3
    assert ran.error["ename"] == "KeyboardInterrupt"


def test_an_awaited_question_is_interrupted_too(kernel: Kernel, scripted_model: ScriptedModel):
    warm(kernel, scripted_model)
    kernel.run("import cashcode_jupyter as cashcode")
    msg_id = kernel.send(f"await cashcode.aask({directive(first_ms=20_000)!r})")
    assert scripted_model.wait_for(lambda model: bool(model.requests))
    ran, seconds = interrupt(kernel, msg_id)
    assert seconds < 0.5
    assert ran.error["ename"] in ("CancelledError", "KeyboardInterrupt")
    assert scripted_model.wait_for(lambda model: model.aborted == 1)
