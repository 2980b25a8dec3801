from __future__ import annotations

import codecs
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cashcode_jupyter.security.jail import Jail
from cashcode_jupyter.tools.arguments import ArgumentProblem
from cashcode_jupyter.tools.base import CallContext, ToolProblem
from cashcode_jupyter.tools.builtin.files import FileTools
from cashcode_jupyter.tools.builtin.memory import MemoryTools

Make = Callable[..., CallContext]


async def call(context: Make, name: str, **arguments: object) -> str:
    return (await FileTools(Jail).call(name, arguments, context())).text


async def test_a_file_that_fits_comes_back_exactly(workspace: Path, context: Make) -> None:
    (workspace / "a.py").write_text("def f():\n\treturn '你好'\n")
    assert await call(context, "read_file", path="a.py") == "def f():\n\treturn '你好'\n"


async def test_500_lines_are_shown_and_offset_goes_on(workspace: Path, context: Make) -> None:
    (workspace / "a.txt").write_text("".join(f"{number}\n" for number in range(1, 601)))
    first = await call(context, "read_file", path="a.txt")
    assert first.startswith("1\n2\n") and "\n500\n" in first and "\n501\n" not in first
    assert first.endswith("[lines 1-500 of 600; continue with offset=501]")
    rest = await call(context, "read_file", path="a.txt", offset=501)
    assert rest.startswith("501\n") and rest.endswith("600\n[lines 501-600, end of file]")
    assert await call(context, "read_file", path="a.txt", offset=2, limit=1) == (
        "2\n[lines 2-2 of 600; continue with offset=3]"
    )


async def test_an_offset_past_the_end_is_said(workspace: Path, context: Make) -> None:
    (workspace / "a.txt").write_text("1\n2\n")
    assert "only 2 lines" in await call(context, "read_file", path="a.txt", offset=9)


async def test_a_huge_file_is_read_only_as_far_as_shown(workspace: Path, context: Make) -> None:
    with (workspace / "huge.csv").open("wb") as file:
        file.write(b"a,b\n" * 3000)
        file.truncate(50_000_000_000)
    text = await call(context, "read_file", path="huge.csv", limit=3)
    assert text == "a,b\na,b\na,b\n[lines 1-3 of a file of 50.0 GB; continue with offset=4]"


async def test_a_long_line_is_cut_and_the_next_is_still_shown(workspace: Path, context: Make) -> None:
    (workspace / "a.json").write_text("x" * 300_000 + "\nnext\n")
    text = await call(context, "read_file", path="a.json")
    assert "[line cut, 298,000 more characters]\nnext\n" in text
    assert len(text) < 3000


async def test_a_binary_file_is_described_and_not_dumped(workspace: Path, context: Make) -> None:
    (workspace / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 100)
    text = await call(context, "read_file", path="a.png")
    assert "binary file, image/png, 1.6 KB" in text and "IHDR" not in text


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ("héllo".encode("latin-1"), "h�llo\n[not UTF-8: bytes that could not be decoded are shown as �]"),
        (codecs.BOM_UTF8 + b"hello", "hello"),
        (codecs.BOM_UTF16_LE + "你好\n".encode("utf-16-le"), "你好\n"),
        (b"a\r\nb\r\n", "a\nb\n"),
        (b"", "(empty file)"),
    ],
)
async def test_encodings_are_read_or_noted(workspace: Path, context: Make, data: bytes, shown: str) -> None:
    (workspace / "a.txt").write_bytes(data)
    assert await call(context, "read_file", path="a.txt") == shown


async def test_a_notebook_is_shown_as_cells(workspace: Path, context: Make) -> None:
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["out\n"] * 1000},
        {"output_type": "display_data", "data": {"image/png": "iVBOR" * 1000, "text/plain": ["<Figure>"]}},
        {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": ["x" * 5000]},
    ]
    cells = [
        {"cell_type": "markdown", "id": "m1", "source": ["# Title\n", "text"]},
        {"cell_type": "code", "id": "c1", "execution_count": 3, "source": "1 / 0", "outputs": outputs},
    ]
    (workspace / "a.ipynb").write_text(json.dumps({"nbformat": 4, "cells": cells, "metadata": {}}))
    text = await call(context, "read_file", path="a.ipynb")
    for part in (
        "cell 1, markdown, id m1",
        "# Title\ntext",
        "run [3]",
        "1 / 0",
        "<Figure>",
        "[image/png, not shown]",
    ):
        assert part in text
    assert "ValueError: bad" in text and "iVBOR" not in text
    assert len(text) < 2000


@pytest.mark.parametrize("content", ["{broken", "[1]", '{"cells": 3}', "[" * 100_000])
async def test_a_broken_notebook_is_shown_as_text(workspace: Path, context: Make, content: str) -> None:
    (workspace / "a.ipynb").write_text(content)
    assert (await call(context, "read_file", path="a.ipynb")).startswith(content[:6])


async def test_only_the_spills_of_this_chat_are_read(workspace: Path, context: Make) -> None:
    ctx = context()
    ctx.results.mkdir(parents=True)
    (ctx.results / "call_9.txt").write_text("whole")
    (ctx.results.parent / "history.txt").write_text("SECRET")
    assert await call(context, "read_file", path="results/call_9.txt") == "whole"
    for path in ("results/../history.txt", "results/call_10.txt", "results/../../c2/results/call_9.txt"):
        with pytest.raises(ToolProblem):
            await call(context, "read_file", path=path)


async def test_a_results_folder_of_the_workspace_is_still_readable(workspace: Path, context: Make) -> None:
    (workspace / "results").mkdir()
    (workspace / "results" / "mine.txt").write_text("mine")
    assert await call(context, "read_file", path="results/mine.txt") == "mine"


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "nope.txt", "."])
async def test_what_cannot_be_read_is_a_problem_in_words(workspace: Path, context: Make, path: str) -> None:
    with pytest.raises(ToolProblem) as raised:
        await call(context, "read_file", path=path)
    assert str(workspace) not in raised.value.text and repr(path) in raised.value.text


async def test_arguments_are_checked(workspace: Path, context: Make) -> None:
    with pytest.raises(ArgumentProblem, match="limit"):
        await call(context, "read_file", path="a", limit=0)


async def test_a_folder_lists_folders_first_with_sizes(workspace: Path, context: Make) -> None:
    (workspace / "b").mkdir()
    (workspace / "a.txt").write_text("x" * 1234)
    (workspace / "link").symlink_to("a.txt")
    assert await call(context, "list_dir") == "b/\na.txt  (1.2 KB)\nlink  (link)"
    assert await call(context, "list_dir", path="b") == "(empty folder)"


async def test_at_most_200_entries_are_listed(workspace: Path, context: Make) -> None:
    for number in range(250):
        (workspace / f"{number:03d}").touch()
    lines = (await call(context, "list_dir")).splitlines()
    assert len(lines) == 201 and "[50 more entries" in lines[-1]


async def test_save_memory_writes_through_the_function_it_was_given(context: Make) -> None:
    kept: list[str] = []

    def remember(content: str) -> str:
        kept.append(content)
        return "Saved."

    outcome = await MemoryTools(remember).call("save_memory", {"content": "likes tea"}, context())
    assert (outcome.text, kept) == ("Saved.", ["likes tea"])
    assert MemoryTools(remember).specs()[0].risk == "memory"
