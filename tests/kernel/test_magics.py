from __future__ import annotations

import json
import re

import pytest

from cashcode_jupyter.testing import directive
from cashcode_jupyter.testing.fixtures import CashcodeHome
from cashcode_jupyter.testing.model import ScriptedModel
from tests.kernel.conftest import Kernel, StartKernel
from tests.kernel.test_cells import BODIES


def last_user(model: ScriptedModel) -> str:
    return model.requests[-1].body["messages"][-1]["content"]


def test_an_answer_streams_in_pieces_and_ends_as_one_display(kernel: Kernel):
    ran = kernel.run("%%cashcode\n" + directive(chunks=60, size=6, delay_ms=20))
    text = ran.shown["text/plain"]
    pieces = ran.of("stream")
    assert ran.kinds == ["stream"] * len(pieces) + ["clear_output", "display_data"]
    assert ran.of("clear_output") == [{"wait": True}]
    assert ran.streamed == text == ran.shown["text/markdown"]
    assert 5 <= len(pieces) <= 40
    assert ran.reply["status"] == "ok"


def test_the_first_piece_comes_long_before_the_last(kernel: Kernel):
    kernel.run("%%cashcode\nwarm up")
    ran = kernel.run("%%cashcode\n" + directive(chunks=40, delay_ms=40))
    first = ran.kinds.index("stream")
    assert ran.times[-1] - ran.times[first] > 1.0


# A kernel message cannot carry a lone surrogate.
SENDABLE = [body for body in BODIES if "\udc80" not in body]


@pytest.mark.parametrize("body", SENDABLE, ids=range(len(SENDABLE)))
def test_the_body_reaches_the_model_as_it_stands_in_the_cell(
    kernel: Kernel, scripted_model: ScriptedModel, body: str
):
    ran = kernel.run(f"%%cashcode\n{body}")
    assert not ran.of("error"), ran.error
    assert last_user(scripted_model) == body


def test_nothing_in_the_line_is_expanded(kernel: Kernel):
    kernel.run("x = 'expanded'")
    kernel.run("%%cashcode --chat '{x}'\nhello")
    kernel.run("%cashcode chat $x")
    assert "expanded" not in kernel.run("%cashcode chats").streamed
    assert kernel.run("%cashcode chat").streamed.startswith("x-")


def test_a_tool_round_shows_as_short_lines_and_folds_into_the_display(kernel: Kernel, cashcode_home: CashcodeHome):
    (cashcode_home.workspace / "notes.txt").write_text("forty-two")
    ran = kernel.run(
        "%%cashcode\n" + directive("tools", tool="read_file", say="It is 42.", **{"arg.path": "notes.txt"})
    )
    assert '… read_file(path="notes.txt")\n✓ read_file\n' in ran.streamed
    assert ran.shown["text/plain"] == '✓ read_file(path="notes.txt")\n\nIt is 42.'
    assert ran.shown["text/markdown"].startswith("<details><summary>1 tool call: read_file</summary>")
    assert ran.shown["text/markdown"].endswith("</details>\n\nIt is 42.")


def test_the_next_cell_knows_what_the_last_one_said(kernel: Kernel, scripted_model: ScriptedModel):
    kernel.run("%%cashcode\n" + directive(say="Hello Ann."))
    kernel.run("%%cashcode\nagain")
    messages = scripted_model.requests[-1].body["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[2]["content"] == "Hello Ann."


def test_a_restarted_kernel_goes_on_in_the_same_chat(start_kernel: StartKernel, scripted_model: ScriptedModel):
    notebook = {"JPY_SESSION_NAME": "/home/me/sales.ipynb"}
    first = start_kernel(**notebook)
    first.run("%%cashcode\n" + directive(say="I know it now."))
    first.close()
    second = start_kernel(**notebook)
    second.run("%%cashcode\nand now?")
    assert scripted_model.requests[-1].body["messages"][2]["content"] == "I know it now."


def test_two_notebooks_have_two_chats(start_kernel: StartKernel, scripted_model: ScriptedModel):
    start_kernel(JPY_SESSION_NAME="/home/me/a.ipynb").run("%%cashcode\none")
    start_kernel(JPY_SESSION_NAME="/home/me/b.ipynb").run("%%cashcode\ntwo")
    assert [message["role"] for message in scripted_model.requests[-1].body["messages"]] == ["system", "user"]


def test_a_named_chat_is_used_once_and_a_new_one_from_now_on(kernel: Kernel, scripted_model: ScriptedModel):
    def roles() -> int:
        return len(scripted_model.requests[-1].body["messages"])

    kernel.run("%%cashcode\none")
    kernel.run("%%cashcode --chat 'Other one'\ntwo")
    assert roles() == 2
    kernel.run("%%cashcode\nthree")
    assert roles() == 4
    kernel.run("%%cashcode --new\nfour")
    assert roles() == 2
    kernel.run("%%cashcode\nfive")
    assert roles() == 4


def test_a_variable_goes_along_as_a_bounded_summary(kernel: Kernel, scripted_model: ScriptedModel):
    kernel.run("import numpy as np\ngrid = np.ones((300, 400))")
    kernel.run("%%cashcode --var grid\nwhat is it?")
    sent = last_user(scripted_model)
    assert "what is it?" in sent
    assert "(300, 400)" in sent
    assert len(sent) < 2000


def test_an_unknown_variable_is_an_error_and_asks_nobody(kernel: Kernel, scripted_model: ScriptedModel):
    kernel.run("grid = 1")
    ran = kernel.run("%%cashcode --var gird\nwhat is it?")
    assert "grid" in ran.error["evalue"]
    assert ran.error["traceback"] == [f"CashCode: {ran.error['evalue']} [not_found]"]
    assert scripted_model.requests == []


def test_the_cells_above_go_along(kernel: Kernel, scripted_model: ScriptedModel):
    kernel.run("price = 41\nprice + 1")
    kernel.run("%%cashcode --context above\nwhat did I compute?")
    sent = last_user(scripted_model)
    assert "price = 41" in sent
    assert "42" in sent


def test_a_model_can_be_named_for_one_cell_or_for_the_notebook(kernel: Kernel, scripted_model: ScriptedModel):
    kernel.run("%%cashcode --model openai_compatible:mock-strict\nhi")
    assert scripted_model.requests[-1].body["model"] == "mock-strict"
    kernel.run("%cashcode model openai_compatible:special")
    kernel.run("%%cashcode\nhi")
    assert scripted_model.requests[-1].body["model"] == "special"


def test_json_prints_the_events_of_the_turn(kernel: Kernel):
    ran = kernel.run("%%cashcode --json\n" + directive(say="four words of text"))
    events = [json.loads(line) for line in ran.streamed.splitlines()]
    assert (events[0]["event"], events[-1]["event"]) == ("turn_started", "done")
    assert [event["text"] for event in events if event["event"] == "delta"] == ["four words of text"]
    assert set(ran.kinds) == {"stream"}


def test_insert_proposes_the_python_of_the_answer_as_the_next_cell(kernel: Kernel):
    answer = "First:\n```python\na = 1\n```\nthen\n```\nb = 2\n```\nand\n```bash\nls\n```\n"
    ran = kernel.run("%%cashcode --insert\n" + directive(text=answer))
    [payload] = ran.reply["payload"]
    assert (payload["source"], payload["text"], payload["replace"]) == ("set_next_input", "a = 1\n\nb = 2", False)


def test_an_answer_without_code_inserts_nothing_and_says_so(kernel: Kernel):
    ran = kernel.run("%%cashcode --insert\n" + directive(say="No code."))
    assert ran.reply["payload"] == []
    assert "no Python code" in ran.streamed


def test_a_failed_turn_raises_with_its_code_and_one_line(kernel: Kernel, cashcode_home: CashcodeHome):
    ran = kernel.run("%%cashcode\n" + directive(quirk="http_401"))
    assert re.search(r"\[llm_[a-z_]+\]$", ran.error["traceback"][0])
    assert len(ran.error["traceback"]) == 1
    assert ran.reply["status"] == "error"


def test_without_a_model_the_cell_says_what_to_do(kernel: Kernel, cashcode_home: CashcodeHome):
    cashcode_home.llm_settings.unlink()
    ran = kernel.run("%%cashcode\nhello")
    assert ran.error["ename"] == "LlmNotConfigured"
    assert "[llm_not_configured]" in ran.error["traceback"][0]


def test_the_error_can_be_caught_with_its_code(kernel: Kernel):
    kernel.run(
        "import cashcode_jupyter as cashcode\n"
        "try:\n    cashcode.ask(' ')\n"
        "except cashcode.CashCodeError as error:\n    code = error.code"
    )
    assert kernel.value("code") == "missing_content"


@pytest.mark.parametrize("line", ["forget x", "skills", "mcp", "watch"])
def test_a_subcommand_of_later_says_so_in_a_sentence(kernel: Kernel, line: str):
    ran = kernel.run(f"%cashcode {line}")
    assert "not part of version" in ran.streamed
    assert not ran.of("error")


def test_help_and_status_fit_one_screen_and_offer_only_what_works(kernel: Kernel):
    text = kernel.run("%cashcode").streamed
    assert len(text.splitlines()) <= 24
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "openai_compatible:mock" in text
    for later in ("forget", "skills", "watch", "--skill", "--mcp"):
        assert later not in text


def test_the_lists_show_chats_models_and_memory(kernel: Kernel, cashcode_home: CashcodeHome):
    assert "no chats" in kernel.run("%cashcode chats").streamed
    assert "Nothing is remembered" in kernel.run("%cashcode memory").streamed
    kernel.run("%%cashcode --chat sales\nHow were the sales?")
    assert "sales" in (listed := kernel.run("%cashcode chats").streamed)
    assert "How were the sales?" in listed
    assert "openai_compatible:mock-strict" in kernel.run("%cashcode model").streamed
    memory = cashcode_home.data / "memory"
    memory.mkdir(exist_ok=True)
    (memory / "MEMORY.md").write_text("- likes tea\n")
    assert kernel.run("%cashcode memory").shown["text/markdown"] == "- likes tea"


def test_stop_without_a_turn_says_that_nothing_runs(kernel: Kernel):
    assert "Nothing" in kernel.run("%cashcode stop").streamed


@pytest.mark.parametrize(
    ("line", "view"), [("panel", "chat"), ("panel chat", "chat"), ("panel settings", "settings")]
)
def test_the_panel_is_shown_below_its_cell(kernel: Kernel, line: str, view: str):
    ran = kernel.run(f"%cashcode {line}")
    [shown] = ran.of("display_data")
    assert "application/vnd.jupyter.widget-view+json" in shown["data"]
    [opened] = [content for content in ran.of("comm_open") if "_view" in content["data"]["state"]]
    assert opened["data"]["state"]["_view"] == view


@pytest.mark.parametrize(("view", "words"), [("watches", "yet"), ("nonsense", "Choose chat, settings")])
def test_a_panel_that_is_not_there_is_one_line(kernel: Kernel, view: str, words: str):
    error = kernel.run(f"%cashcode panel {view}").error
    assert words in error["evalue"]
    assert len(error["traceback"]) == 1
