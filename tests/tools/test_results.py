from __future__ import annotations

import hashlib
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from cashcode_jupyter.security.jail import Jail
from cashcode_jupyter.security.redact import Redactor
from cashcode_jupyter.tools.arguments import Arguments
from cashcode_jupyter.tools.base import CallContext, ToolOutcome, ToolProblem
from cashcode_jupyter.tools.builtin.files import FileTools
from cashcode_jupyter.tools.functions import FunctionToolset, tool
from cashcode_jupyter.tools.registry import CombinedToolset
from cashcode_jupyter.tools.results import MAX_INLINE, SPILL_NAME, ShapedToolset, excerpt, spill_stem

Make = Callable[..., CallContext]
SECRET = "Xy-canary-9/value"


class Nothing(Arguments):
    pass


def giving(answer: str | ToolOutcome | Exception) -> ShapedToolset:
    """A tool `say` with this answer, and `read_file`, shaped and redacted."""

    async def run(given: Nothing, ctx: CallContext) -> str | ToolOutcome:
        if isinstance(answer, Exception):
            raise answer
        return answer

    tools = CombinedToolset([FunctionToolset([tool("say", "d", Nothing, run)]), FileTools(Jail)])
    return ShapedToolset(tools, Redactor([SECRET]))


async def test_a_short_result_stays_as_it_is(context: Make) -> None:
    outcome = await giving("x" * MAX_INLINE).call("say", {}, context())
    assert (outcome.text, outcome.truncated, outcome.spill) == ("x" * MAX_INLINE, False, None)
    assert not context().results.exists()


async def test_a_long_result_shows_head_and_tail_and_keeps_the_whole_on_disk(context: Make) -> None:
    whole = "\n".join(f"line {number}" for number in range(5000))
    outcome = await giving(whole).call("say", {}, context("call_7"))
    assert outcome.ok and outcome.truncated
    assert outcome.spill == "results/call_7.txt"
    assert (context().results / "call_7.txt").read_text() == whole
    assert len(outcome.text) <= MAX_INLINE
    assert outcome.text.startswith("line 0\n") and outcome.text.endswith("line 4999")
    for fact in ("say", f"{len(whole):,}", hashlib.sha256(whole.encode()).hexdigest(), '"results/call_7.txt"'):
        assert fact in outcome.text


async def test_a_spill_is_paged_by_read_file_without_being_spilled_again(context: Make) -> None:
    whole = "\n".join(f"{number:06d} {'x' * 60}" for number in range(1200)) + "\n" + "y" * 10_000
    tools = giving(whole)
    spill = (await tools.call("say", {}, context("call_7"))).spill
    read, offset = "", 1
    while True:
        outcome = await tools.call("read_file", {"path": spill, "offset": offset}, context("call_8"))
        assert outcome.spill is None and not outcome.truncated
        page, _, note = outcome.text.rpartition("\n[")
        read += page if read.endswith("\n") or not read else f"\n{page}"
        if "continue with offset=" not in note:
            break
        offset = int(note.rpartition("=")[2].rstrip("]"))
    assert read.replace("\n", "") == whole.replace("\n", "")


async def test_nothing_is_said_as_no_output(context: Make) -> None:
    assert (await giving(" \n").call("say", {}, context())).text == "(no output)"


async def test_secrets_reach_neither_the_model_nor_the_preview_nor_the_disk(context: Make) -> None:
    answer = ToolOutcome(ok=True, text=f"{'x' * 9000} {SECRET}", preview=f"p {SECRET}")
    outcome = await giving(answer).call("say", {}, context())
    assert SECRET not in outcome.text + outcome.preview
    assert SECRET not in (context().results / "call_1.txt").read_text()


async def test_a_problem_comes_back_as_a_failed_result_without_secrets(context: Make) -> None:
    outcome = await giving(ToolProblem(f"no such thing as {SECRET}")).call("say", {}, context())
    assert (outcome.ok, outcome.text) == (False, "no such thing as [redacted]")
    assert not (await giving("x").call("sai", {}, context())).ok


async def test_a_preview_is_at_most_2000_characters(context: Make) -> None:
    assert len((await giving("z" * 5000).call("say", {}, context())).preview) == 2000


async def test_a_call_id_that_comes_again_does_not_overwrite_the_older_result(context: Make) -> None:
    first = await giving("a" * 9000).call("say", {}, context("call_0"))
    second = await giving("b" * 9000).call("say", {}, context("call_0"))
    assert (first.spill, second.spill) == ("results/call_0.txt", "results/call_0-2.txt")
    assert (context().results / "call_0.txt").read_text() == "a" * 9000


async def test_lone_surrogates_do_not_get_through(context: Make) -> None:
    outcome = await giving("\ud800" * 9000).call("say", {}, context())
    assert (outcome.text + outcome.preview).encode()


@given(st.text(max_size=100))
def test_any_call_id_gives_a_safe_spill_name(call_id: str) -> None:
    assert SPILL_NAME.fullmatch(f"results/{spill_stem(call_id)}.txt")


@given(
    st.text(alphabet="ab\n é你", min_size=MAX_INLINE // 5)
    .map(lambda text: text * 6)
    .filter(lambda t: len(t) > MAX_INLINE)
)
def test_an_excerpt_is_shorter_than_the_limit(text: str) -> None:
    assert len(excerpt(text, "tool", "results/x.txt")) <= MAX_INLINE
