"""Every sentence for people exists in Chinese with its fields and code, and the compiled catalogue is current."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from unicodedata import east_asian_width

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po

from cashcode_jupyter import i18n

PACKAGE = Path(i18n.__file__).parent
CATALOGUE = i18n.LOCALE_DIR / "zh_CN" / "LC_MESSAGES" / f"{i18n.DOMAIN}.po"
# What a translation may not change: fields, stray braces and percent signs, options, variables, code, addresses.
KEPT = re.compile(
    r"\{\w+(?:![rsa])?(?::[^{}\"]*)?\}|%\(\w+\)s|%+\w*|[{}`\n]|--[a-z-]*|[A-Z]+(?:_[A-Z]+)+|PATH\.gguf|"
    r"PROVIDER:MODEL|https?://|\w+\.(?:json|py|allow_origin)\b|pip install [^\s,.，。]+|"
    r"cashcode (?:ask|connect|doctor|run|starter|try)\b"
)


class NotALiteral(Exception):
    """A call of `_` that no catalogue can translate."""


def marked(source: str) -> Iterator[str]:
    """The sentences that `source` hands to `_`; `NotALiteral` for a call with anything else than one literal."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not _is_marker(node.func):
            continue
        match node:
            case ast.Call(args=[ast.Constant(value=str(sentence))], keywords=[]) if sentence:
                yield sentence
            case _:
                raise NotALiteral(f"line {node.lineno}: {ast.unparse(node)}")


def _is_marker(function: ast.expr) -> bool:
    match function:
        case ast.Name(id="_") | ast.Attribute(value=ast.Name(id="i18n"), attr="_"):
            return True
    return False


def modules() -> list[Path]:
    return [file for file in sorted(PACKAGE.rglob("*.py")) if file != Path(i18n.__file__)]


def sentences() -> set[str]:
    return {sentence for file in modules() for sentence in marked(file.read_text(encoding="utf-8"))}


def in_file() -> Catalog:
    with CATALOGUE.open("rb") as file:
        return read_po(file)


def pairs(catalogue: Catalog) -> dict[str, str]:
    return {str(message.id): str(message.string) for message in catalogue if message.id}


def changed(sentence: str, translation: str) -> list[str]:
    """What of `sentence` is not the same in `translation`, of what has to be."""
    kept, there = Counter(KEPT.findall(sentence)), Counter(KEPT.findall(translation))
    wrong = sorted(((kept - there) + (there - kept)).elements())
    if _edges(sentence) != _edges(translation):
        wrong.append("space at its start or end")
    return wrong


def _edges(text: str) -> tuple[str, str]:
    return text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]


def test_every_sentence_is_translated():
    translated = pairs(in_file())
    assert not sorted(sentence for sentence in sentences() if not translated.get(sentence))


def test_the_catalogue_holds_no_sentence_that_is_gone():
    catalogue = in_file()
    assert set(pairs(catalogue)) == sentences()
    assert not catalogue.obsolete


def test_no_translation_is_a_guess():
    assert not [message.id for message in in_file() if message.id and message.fuzzy]


def test_a_translation_keeps_fields_code_and_lines():
    wrong = {sentence: changed(sentence, chinese) for sentence, chinese in pairs(in_file()).items()}
    assert not {sentence: parts for sentence, parts in wrong.items() if parts}


@pytest.mark.parametrize(
    ("sentence", "translation"),
    [
        ("{count} turns", "{n} 个轮次"),
        ("{count} turns of {count}", "{count} 个轮次"),
        ("{seconds:.0f} s", "{seconds} 秒"),
        ("{text!r} is no model", "{text} 不是模型"),
        ("the folder (default: %(default)s)", "文件夹（默认）"),
        ("begins with { here", "在此开始"),
        ("all of them", "100% 全部"),
        ("use --headless", "使用 --头"),
        ("Set CASHCODE_LOG_DIR.", "请设置。"),
        ("Run `cashcode doctor`.", "请运行 cashcode doctor。"),
        ("Run: cashcode starter", "请运行：cashcode 入门"),
        ("one\ntwo", "一二"),
        ("  chat {chat}", "对话 {chat}"),
        ("Allow? [y/N] ", "允许吗？[y/N]"),
    ],
)
def test_a_translation_that_lost_something_is_found(sentence: str, translation: str):
    assert changed(sentence, translation)


@pytest.mark.parametrize(
    "call",
    [
        '_(f"no {name}")',
        "_(sentence)",
        '_("no {name}".format(name=name))',
        '_("no " + name)',
        '_("one" if one else "many")',
        '_("one", "many", count)',
        '_(message="one")',
        '_(b"one")',
        '_("")',
        "_()",
        "i18n._(sentence)",
    ],
)
def test_a_call_that_no_catalogue_can_translate_is_found(call: str):
    with pytest.raises(NotALiteral):
        list(marked(f"def say():\n    return {call}\n"))


def test_sentences_are_found_in_all_their_forms():
    source = (
        'x = _("one").format(a=1)\ny = _(\n    "two "\n    "parts"\n)\nz = f"{_(\'three\')}"\nfor _ in (): pass\n'
    )
    assert set(marked(source)) == {"one", "two parts", "three"}


def test_only_one_module_knows_gettext():
    """So no sentence goes by a road that the catalogue does not see, such as `ngettext`."""
    knows = re.compile(r"^\s*(?:from|import)\s+gettext\b|import_module\(.gettext.\)", re.M)
    assert not [file.name for file in modules() if knows.search(file.read_text(encoding="utf-8"))]


def test_the_marker_has_one_name():
    """`from i18n import _ as t` would hide its sentences."""
    renamed = re.compile(r"\bimport\s[^\n]*\b_ as \w|\bimport i18n as\b")
    assert not [file.name for file in modules() if renamed.search(file.read_text(encoding="utf-8"))]


def test_the_compiled_catalogue_is_current():
    with CATALOGUE.with_suffix(".mo").open("rb") as file:
        assert pairs(read_mo(file)) == pairs(in_file())


def test_the_catalogue_names_files_of_the_repository_only():
    places = {file for message in in_file() for file, _line in message.locations}
    assert places and all((PACKAGE.parent / place).is_file() and place.startswith(PACKAGE.name) for place in places)


def starts(line: str, gap: str) -> list[int]:
    """The columns of a terminal where what follows a `gap` begins; CJK characters are two columns wide."""
    wide = "".join(f"{character}\0" if east_asian_width(character) in "WF" else character for character in line)
    return [found.end() for found in re.finditer(gap, wide)]


def shifted(sentence: str, translation: str) -> list[str]:
    """Lines of `translation` where nothing begins below a cell of the sentence's table."""
    lines = zip(sentence.split("\n"), translation.split("\n"), strict=True)
    return [there for line, there in lines if set(starts(line, r"\S {2,}(?=\S)")) - set(starts(there, r" +(?=\S)"))]


def test_the_columns_of_help_screens_stand_below_each_other():
    wrong = [lines for sentence, chinese in pairs(in_file()).items() if (lines := shifted(sentence, chinese))]
    assert not wrong


def test_a_shifted_column_is_found():
    assert shifted("Start:  run it\n  --all   all", "开始：  运行\n  --all   全部") == []
    assert shifted("Start:  run it\n  --all   all", "开始： 运行\n  --all 全部") == ["开始： 运行", "  --all 全部"]


@pytest.mark.parametrize("wanted", ["zh_CN", "zh-CN", "zh", "zh_TW.UTF-8"])
def test_the_language_of_the_person_is_used(monkeypatch: pytest.MonkeyPatch, wanted: str):
    sentence = "The chat was just closed; send the message again."
    monkeypatch.setenv("CASHCODE_LANG", wanted)
    assert i18n._(sentence) == pairs(in_file())[sentence] != sentence
    monkeypatch.setenv("CASHCODE_LANG", "en")
    assert i18n._(sentence) == sentence
