from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import no_var_expand

from cashcode_jupyter.kernel.cells import MAX_CELLS, MAX_TOTAL, Cells


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    shell = InteractiveShell()
    shell.history_manager.enabled = False  # type: ignore[union-attr]
    yield shell
    shell.history_manager.end_session()  # type: ignore[union-attr]


@pytest.fixture
def cells(shell: InteractiveShell) -> Iterator[Cells]:
    cells = Cells(shell)
    cells.start()
    yield cells
    cells.stop()


@pytest.fixture
def bodies(shell: InteractiveShell, cells: Cells) -> list[str]:
    """The exact bodies of the `%%cashcode` cells that run."""
    seen: list[str] = []

    @no_var_expand
    def cashcode(line: str, cell: str) -> None:
        seen.append(cells.exact_body(line, cell))

    shell.magics_manager.register_function(cashcode, magic_kind="cell", magic_name="cashcode")
    return seen


BODIES = [
    "plain",
    "one newline\n",
    "two newlines\n\n",
    "trailing spaces   ",
    "{braces} $dollar {{x}} %percent !bang ?",
    ">>> 1 + 1\n... 2\n2",
    "In [3]: x\nOut[3]: 4",
    "    indented\n  less",
    "\n\nleading blank lines",
    "quotes ' \" ''' \"\"\" \\n \\",
    "carriage\r\nreturn\rand \x0b \x0c \x85 \u2028 breaks",
    "emoji 🎉 and 中文 and \udc80",
    "%%cashcode\nnested",
    "x" * (1 << 20),
]


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_the_body_is_what_stands_in_the_cell(shell: InteractiveShell, bodies: list[str], body: str):
    shell.run_cell(f"%%cashcode --chat a\n{body}")
    assert bodies == [body]


def test_blank_lines_and_indentation_before_the_magic_do_not_matter(shell: InteractiveShell, bodies: list[str]):
    shell.run_cell("\n  %%cashcode\n  hello\n  you")
    assert bodies == ["  hello\n  you"]


def test_a_call_from_code_keeps_its_own_body(shell: InteractiveShell, bodies: list[str]):
    shell.run_cell("get_ipython().run_cell_magic('cashcode', '', 'from code')")
    shell.run_cell("%%time\n%%cashcode\ninside")
    assert bodies[0] == "from code"
    assert bodies[1].rstrip("\n") == "inside"


Look = Callable[..., list[dict[str, str]]]


def run(shell: InteractiveShell, *sources: str, cell_id: str | None = None) -> None:
    for source in sources:
        shell.run_cell(source, store_history=True, cell_id=cell_id)


@pytest.fixture
def look(shell: InteractiveShell, cells: Cells) -> Look:
    """The context as a cell that runs now would send it."""

    def look(wanted: str, cell_id: str = "asking") -> list[dict[str, str]]:
        shell.user_ns.update(cells=cells, wanted=wanted, seen=[])
        run(shell, "seen.append(cells.context(wanted))", cell_id=cell_id)
        return shell.user_ns["seen"][0]

    return look


def labels(items: list[dict[str, str]]) -> list[str]:
    return [item["label"] for item in items]


def test_the_context_is_what_ran_before_with_its_results(shell: InteractiveShell, look: Look):
    run(shell, "x = 41", "x + 1")
    first, second = look("above")
    assert (first["kind"], first["label"], first["text"]) == ("cell", "In [1]", "x = 41")
    assert second["text"] == "x + 1\n# Out [2]:\n42"


def test_no_context_is_the_default_and_a_number_takes_the_last_cells(shell: InteractiveShell, look: Look):
    run(shell, "a = 1", "b = 2", "c = 3")
    assert labels(look("2")) == ["In [2]", "In [3]"]
    assert look("none") == look("0") == []


def test_only_the_last_run_of_a_cell_is_above_and_all_has_every_run(shell: InteractiveShell, look: Look):
    run(shell, "a = 1", cell_id="one")
    run(shell, "b = 2", cell_id="two")
    run(shell, "a = 3", cell_id="one")
    assert labels(look("above")) == ["In [2]", "In [3]"]
    assert labels(look("all", cell_id="two")) == ["In [1]", "In [2]", "In [3]", "In [4]"]


def test_an_earlier_run_of_the_asking_cell_is_not_above_it(shell: InteractiveShell, look: Look):
    run(shell, "a = 1", cell_id="one")
    assert labels(look("above")) == ["In [1]"]
    assert labels(look("above")) == ["In [1]"]


def test_our_own_cells_are_left_out(shell: InteractiveShell, bodies: list[str], look: Look):
    run(shell, "a = 1", "%%cashcode\nhello")
    assert labels(look("all")) == ["In [1]"]


def test_the_context_is_bounded_and_says_what_is_left_out(shell: InteractiveShell, look: Look):
    run(shell, *(f"# {'x' * 7_900}\nn = {number}" for number in range(40)))
    items = look("all")
    assert len(items) <= MAX_CELLS
    assert sum(len(item["text"]) for item in items) <= MAX_TOTAL + 100
    assert items[0]["text"].startswith(f"({40 - len(items)} earlier cells are left out.)")
    assert items[-1]["label"] == "In [40]"
