"""Simplified Chinese is complete: nothing that the panel itself says stays English."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.answers import SALES
from tests.browser.lab import Lab, Model
from tests.browser.panel import expect
from tests.browser.visit import Visitor

CATALOGUES = Path(__file__).parents[2] / "labextension" / "src" / "locale" / "zh_CN"
# Everything a person reads or hears in the panel, without what people and models wrote.
SPOKEN = """panel => {
  const said = [];
  const walk = node => {
    if (node.nodeType === Node.TEXT_NODE) {
      said.push(node.data.trim());
      return;
    }
    if (!(node instanceof HTMLElement) || node.inert) {
      return;
    }
    for (const name of ['aria-label', 'title', 'placeholder', 'alt']) {
      if (node.hasAttribute(name)) {
        said.push(node.getAttribute(name).trim());
      }
    }
    if (node.checkVisibility()) {
      node.childNodes.forEach(walk);
    }
  };
  walk(panel);
  return said.filter(Boolean);
}"""
ENGLISH = re.compile(r"[A-Za-z]{2,} +[A-Za-z]{2,}")
PROPER = re.compile(r"OpenAI|Ollama|CashCode|JupyterLab|SOUL\.md|MCP|API|mock-strict|mock|cashcode starter")


def keys() -> dict[str, str]:
    merged: dict[str, str] = {}
    for path in sorted(CATALOGUES.glob("*.json")):
        merged |= json.loads(path.read_text(encoding="utf-8"))
    return merged


def english(said: list[str]) -> list[str]:
    catalogue = keys()
    wrong = []
    for text in said:
        untranslated = text in catalogue and catalogue[text] != text
        if untranslated or ENGLISH.search(PROPER.sub("", text)):
            wrong.append(text)
    return wrong


def test_every_sentence_of_the_catalogue_keeps_its_holes() -> None:
    hole = re.compile(r"\{\w+\}")
    for key, sentence in keys().items():
        assert sorted(hole.findall(key)) == sorted(hole.findall(sentence)), key


@pytest.mark.parametrize("view", ["chat", "chats", "settings"])
def test_no_english_sentence_is_left_in_the_chinese_panel(
    visitor: Visitor, make_lab: Callable[..., Lab], model: Model, view: str
) -> None:
    lab = make_lab(model)  # whose chats have Chinese titles
    (lab.work / "sales.csv").write_text(SALES)
    lab.look(language="zh-CN")
    page = visitor.lab(lab)
    page.get_by_role("tab", name="CashCode").click()
    place = page.locator("#jp-right-stack .cc-panel, #jp-left-stack .cc-panel")
    box = place.get_by_role("textbox", name=keys()["Message CashCode"])
    box.fill("五月的收入为什么下降？")
    box.press("Enter")
    expect(place.locator("article, [role=article]").last).to_contain_text("缺货")
    expect(place.get_by_role("button", name=keys()["Stop"], exact=True)).to_have_count(0)
    if view != "chat":
        place.get_by_role("button", name=keys()["Chats" if view == "chats" else "Settings"], exact=True).click()
    expect(place.locator(".cc-skeleton")).to_have_count(0)
    assert place.evaluate("node => node.lang || node.closest('[lang]').lang").startswith("zh")
    assert english(place.evaluate(SPOKEN)) == []
