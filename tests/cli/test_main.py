from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from cashcode_jupyter import __version__
from cashcode_jupyter.cli import main
from cashcode_jupyter.protocol.actions import PROVIDERS

from .conftest import Program


def test_the_installed_command_is_this_program() -> None:
    [found] = entry_points(group="console_scripts", name="cashcode")
    assert found.load() is main


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"cashcode {__version__}\n"


@pytest.mark.parametrize("command", ["ask", "run", "doctor", "starter", "try"])
def test_each_command_has_a_manual(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert f"usage: cashcode {command}" in text and len(text.splitlines()) > 8


@pytest.mark.parametrize("arguments", [[], ["dance"], ["ask", "--dance"], ["try", "--port", "x"]])
def test_a_wrong_call_exits_with_two(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_the_help_is_chinese_where_the_person_is(cashcode: Program) -> None:
    cashcode.environ["CASHCODE_LANG"] = "zh_CN"
    done = cashcode("ask", "--help")
    assert done.code == 0
    for chinese in ("用法: cashcode ask", "提一个问题", "参数:", "选项:", "显示此帮助并退出"):
        assert chinese in done.out
    for english in ("usage", "options:", "arguments:", "show this"):
        assert english not in done.out


def test_a_wrong_call_is_told_in_chinese_where_the_person_is(cashcode: Program) -> None:
    cashcode.environ["CASHCODE_LANG"] = "zh_CN"
    done = cashcode("try", "--port", "x")
    assert done.code == 2
    assert "用法: cashcode try" in done.err and "cashcode try: 错误: " in done.err


def test_the_manual_loads_no_core() -> None:
    program = (
        "import sys; from cashcode_jupyter.cli import build, Console; build(Console()).parse_args(['ask', 'x'])\n"
        "print(sorted({'pydantic', 'openai', 'cashcode_jupyter.app'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_providers_are_those_of_the_protocol() -> None:
    from cashcode_jupyter.cli import parser

    assert parser.PROVIDERS == PROVIDERS
