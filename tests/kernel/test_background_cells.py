from __future__ import annotations

from cashcode_jupyter.testing import directive
from cashcode_jupyter.testing.model import ScriptedModel
from tests.kernel.conftest import Kernel, Ran


def ended(ran: Ran) -> bool:
    return bool(ran.of("display_data"))


def test_a_background_cell_ends_at_once_and_its_output_goes_on_in_that_cell(kernel: Kernel):
    kernel.run("%%cashcode\nwarm up")
    msg_id = kernel.send("%%cashcode --bg\n" + directive(say="From behind.", chunks=30, delay_ms=40))
    ran = kernel.collect(msg_id)
    assert not ended(ran)
    other = kernel.run("print('meanwhile')")
    assert other.streamed == "meanwhile\n"
    ran = kernel.collect(msg_id, until=ended, into=ran)
    assert ran.shown["text/plain"] == "From behind."
    assert ran.streamed == "From behind."


def test_stop_ends_background_turns(kernel: Kernel, scripted_model: ScriptedModel):
    kernel.run("%%cashcode\nwarm up")
    scripted_model.clear()
    msg_id = kernel.send("%%cashcode --bg\n" + directive(first_ms=20_000))
    ran = kernel.collect(msg_id)
    assert scripted_model.wait_for(lambda model: bool(model.requests))
    stopped = kernel.send("%cashcode stop")
    ran = kernel.collect(msg_id, until=ended, into=ran)
    assert ran.shown["text/plain"] == "(stopped)"
    assert stopped
    assert scripted_model.wait_for(lambda model: model.aborted == 1)


def test_a_failed_background_turn_says_why_in_its_cell(kernel: Kernel):
    msg_id = kernel.send("%%cashcode --bg\n" + directive(quirk="http_401"))
    ran = kernel.collect(msg_id)
    if not ended(ran):
        ran = kernel.collect(msg_id, until=ended, into=ran)
    assert "[llm_" in ran.shown["text/plain"]
