"""Every sentence for people exists in Chinese, with the same fields, and the compiled catalogue is current."""

from __future__ import annotations

import gettext
import string
from pathlib import Path

import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from cashcode_jupyter import i18n

PACKAGE = Path(i18n.__file__).parent
CATALOGUE = i18n.LOCALE_DIR / "zh_CN" / "LC_MESSAGES" / f"{i18n.DOMAIN}.po"


def sentences() -> set[str]:
    found = extract_from_dir(str(PACKAGE), method_map=[("**.py", "python")], keywords={"_": None})
    return {message for _file, _line, message, _comments, _context in found if isinstance(message, str)}


def fields(text: str) -> set[str]:
    return {name for _text, name, _spec, _conversion in string.Formatter().parse(text) if name is not None}


def test_every_sentence_is_translated_with_its_fields():
    catalogue = read_po(CATALOGUE.open("rb"))
    translated = {message.id: message.string for message in catalogue if message.id}
    missing = sorted(sentence for sentence in sentences() if not translated.get(sentence))
    assert not missing
    wrong = [sentence for sentence in sentences() if fields(sentence) != fields(str(translated[sentence]))]
    assert not wrong


def test_the_compiled_catalogue_is_current():
    compiled = gettext.GNUTranslations(CATALOGUE.with_suffix(".mo").open("rb"))
    catalogue = read_po(CATALOGUE.open("rb"))
    assert all(compiled.gettext(str(message.id)) == message.string for message in catalogue if message.id)


def test_the_language_of_the_person_is_used(monkeypatch: pytest.MonkeyPatch):
    sentence = "The chat was just closed; send the message again."
    monkeypatch.setenv("CASHCODE_LANG", "zh-CN")
    assert i18n._(sentence) != sentence
    monkeypatch.setenv("CASHCODE_LANG", "en")
    assert i18n._(sentence) == sentence
