from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cashcode_jupyter.security.jail import Jail
from cashcode_jupyter.tools.base import CallContext, ToolProblem
from cashcode_jupyter.tools.builtin.globs import PathPattern
from cashcode_jupyter.tools.builtin.search import SearchTools

Make = Callable[..., CallContext]


async def call(context: Make, name: str, **arguments: object) -> str:
    return (await SearchTools(Jail).call(name, arguments, context())).text


@pytest.fixture
def tree(workspace: Path) -> Path:
    for path in ("a.py", "b.csv", "src/m.py", "src/deep/t.py", "src/deep/t.csv", ".git/x.py", "node_modules/y.py"):
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text(f"one\nname {path}\nthree needle\n")
    outside = workspace.parent / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("needle SECRET\n")
    (workspace / "out").symlink_to(outside)
    (workspace / "file_out").symlink_to(outside / "secret.py")
    return workspace


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("*.py", "", ["a.py", "src/deep/t.py", "src/m.py"]),
        ("**/*.py", "", ["a.py", "src/deep/t.py", "src/m.py"]),
        ("src/*.py", "", ["src/m.py"]),
        ("src/**/*.py", "", ["src/deep/t.py", "src/m.py"]),
        ("*.py", "src", ["src/deep/t.py", "src/m.py"]),
        ("./src/m.py", "", ["src/m.py"]),
        ("t.{py,csv}", "", ["src/deep/t.csv", "src/deep/t.py"]),
        ("{a,src/m}.py", "", ["a.py", "src/m.py"]),
        ("d*/", "", ["src/deep/"]),
        ("[ab].*", "", ["a.py", "b.csv"]),
        ("*.py", ".git", [".git/x.py"]),
        ("ROOT/src/*.py", "", ["src/m.py"]),
    ],
)
async def test_glob_finds_files_by_pattern(
    tree: Path, context: Make, pattern: str, path: str, found: list[str]
) -> None:
    pattern = pattern.replace("ROOT", str(tree))
    assert (await call(context, "glob", pattern=pattern, path=path)).splitlines() == found


async def test_glob_says_when_nothing_matches_or_more_does(workspace: Path, context: Make) -> None:
    assert await call(context, "glob", pattern="*.py") == "(no files match)"
    for number in range(120):
        (workspace / f"{number:03d}.txt").touch()
    lines = (await call(context, "glob", pattern="*.txt")).splitlines()
    assert lines[99] == "099.txt" and "more than 100" in lines[100] and len(lines) == 101


@pytest.mark.parametrize(
    "pattern", ["../outside/*.py", "../*", "*/../../outside/*", "out/*.py", "/etc/*", "{..,src}/*"]
)
async def test_glob_never_leaves_the_workspace(tree: Path, context: Make, pattern: str) -> None:
    try:
        text = await call(context, "glob", pattern=pattern)
    except ToolProblem as problem:
        text = problem.text
    assert "secret" not in text and "passwd" not in text


async def test_grep_gives_path_line_number_and_line(tree: Path, context: Make) -> None:
    found = await call(context, "grep", pattern="needle|one$", file_pattern="*.py", path="src")
    assert found.splitlines() == [
        *("src/deep/t.py:1: one", "src/deep/t.py:3: three needle"),
        *("src/m.py:1: one", "src/m.py:3: three needle"),
    ]


async def test_grep_takes_a_single_file(tree: Path, context: Make) -> None:
    assert await call(context, "grep", pattern="(?i)NEEDLE", path="b.csv") == "b.csv:3: three needle"
    assert await call(context, "grep", pattern="nothing", path="b.csv") == "(no matches in 1 files)"
    with pytest.raises(ToolProblem):
        await call(context, "grep", pattern="x", path="nope.txt")


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "../outside"},
        {"path": "out"},
        {"path": "file_out"},
        {"file_pattern": "../outside/*.py"},
        {"file_pattern": "out/*"},
        {"file_pattern": "**/../../outside/*"},
        {},
    ],
)
async def test_grep_never_leaves_the_workspace(tree: Path, context: Make, arguments: dict[str, str]) -> None:
    try:
        text = await call(context, "grep", pattern="SECRET", **arguments)
    except ToolProblem as problem:
        text = problem.text
    assert "needle SECRET" not in text


async def test_grep_shows_fifty_hits_and_cuts_long_lines_around_the_match(workspace: Path, context: Make) -> None:
    (workspace / "a.txt").write_text("x" * 5000 + "needle" + "y" * 5000 + "\n" + "needle\n" * 80)
    lines = (await call(context, "grep", pattern="needle")).splitlines()
    assert len(lines) == 51 and "first 50 matches" in lines[-1]
    assert "needle" in lines[0] and len(lines[0]) < 350
    assert lines[1] == "a.txt:2: needle"


async def test_grep_counts_lines_right_across_pieces_and_skips_binary_files(workspace: Path, context: Make) -> None:
    lines = [f"line {number} {'é' * 40}" for number in range(1, 20_001)]
    (workspace / "big.txt").write_text("\r\n".join(lines) + "\r\n")
    (workspace / "long.txt").write_text("z" * 3_000_000 + "\nend here\n")
    (workspace / "bin.dat").write_bytes(b"\0line 19999\n")
    assert (await call(context, "grep", pattern="line 19999 ")).startswith("big.txt:19999: line 19999 ")
    assert await call(context, "grep", pattern="^end here$") == "long.txt:2: end here"
    assert await call(context, "grep", pattern="^$") == "(no matches in 3 files)"


async def test_a_pattern_that_never_ends_is_ended_and_reported(workspace: Path, context: Make) -> None:
    (workspace / "a.txt").write_text("a" * 60 + "!\n")
    started = time.monotonic()
    with pytest.raises(ToolProblem, match=r"more than 2 seconds on .a\.txt."):
        await call(context, "grep", pattern="(a+)+$")
    assert time.monotonic() - started < 10


async def test_the_loop_goes_on_and_a_cancelled_search_ends_at_once(workspace: Path, context: Make) -> None:
    (workspace / "a.txt").write_text("a" * 60 + "!\n")
    task = asyncio.create_task(call(context, "grep", pattern="(a+)+$"))
    worst = 0.0
    for _ in range(20):
        before = time.monotonic()
        await asyncio.sleep(0.01)
        worst = max(worst, time.monotonic() - before)
    assert worst < 0.5
    before = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - before < 0.3


@pytest.mark.parametrize("pattern", ["(", "[a", "a" * 2000, "(?P<x"])
async def test_a_pattern_that_is_no_regex_is_a_problem(workspace: Path, context: Make, pattern: str) -> None:
    with pytest.raises(ToolProblem, match="regular expression"):
        await call(context, "grep", pattern=pattern)


@pytest.mark.parametrize("pattern", ["", " ", "/", "*" * 2000, "{a,b}" * 10])
async def test_an_unusable_file_pattern_is_a_problem(workspace: Path, context: Make, pattern: str) -> None:
    with pytest.raises(ToolProblem):
        await call(context, "glob", pattern=pattern)


@given(st.lists(st.sampled_from(["**", "*", "a*", "?", "b"]), min_size=1, max_size=8), st.data())
def test_a_pattern_matches_what_its_own_shape_gives(parts: list[str], data: st.DataObject) -> None:
    names = []
    for part in parts:
        if part == "**":
            names += data.draw(st.lists(st.sampled_from("abc"), max_size=3))
        else:
            names.append(part.replace("*", data.draw(st.sampled_from(["", "b", "x.y"]))).replace("?", "q") or "n")
    if names:
        pattern = PathPattern("/".join(["*", *parts]))
        assert pattern.matches("/".join(["top", *names]))


def test_many_stars_do_not_take_long() -> None:
    pattern = PathPattern("**/a/" * 60 + "*a*a*a*a*a*a*b")
    started = time.monotonic()
    assert not pattern.matches("/".join(["a"] * 200))
    assert time.monotonic() - started < 2
