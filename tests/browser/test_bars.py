"""The measured promises of the panel: first paint, frames, bytes and delay. `pytest -s` prints the figures."""

from __future__ import annotations

import json
import re
import secrets

from tests.browser.lab import Lab
from tests.browser.panel import Panel, expect
from tests.browser.probes import SCRIPT, SLACK, delays, gaps
from tests.browser.visit import Visitor

FRAME_BAR = 200
OPEN_BAR = 300
DELAY_BAR = 50
BYTES_BAR = 6


def long_chat(lab: Lab, title: str, messages: int) -> str:
    """A chat of `messages` messages as the ledger stores them; returns its id."""
    chat_id = f"long-{secrets.token_hex(4)}"
    folder = lab.data / "memory" / chat_id
    folder.mkdir(parents=True, mode=0o700)
    paragraph = "Units fell in *May*, and `df.groupby('product')` shows where. " * 4
    code = "\n\n```python\ndf[df.month == 'May'].sum()\n```\n"
    with (folder / "history.jsonl").open("w", encoding="utf-8") as history:
        for number in range(messages):
            turn = f"turn-{number // 2}"
            record = {"cursor": number + 1, "timestamp": "2026-11-30 10:00", "turn_id": turn}
            if number % 2 == 0:
                record |= {"role": "user", "content": f"Question {number // 2}", "message_id": f"m{number}"}
            else:
                record |= {"role": "assistant", "content": f"**Answer {number // 2}.** {paragraph}{code}"}
            history.write(json.dumps(record) + "\n")
    (folder / "metadata.json").write_text(json.dumps({"title": title}))
    return chat_id


def measured(visitor: Visitor, lab: Lab) -> Panel:
    return Panel.in_sidebar(visitor.lab(lab, script=SCRIPT))


def test_a_chat_of_2000_messages_is_on_the_screen_within_300_ms(visitor: Visitor, lab: Lab) -> None:
    long_chat(lab, "Two thousand messages", 2000)
    panel = measured(visitor, lab)
    panel.button("Chats").click()
    row = panel.chats.get_by_role("button", name="Two thousand messages").first
    expect(row).to_be_visible()
    panel.page.evaluate("probe.fromClickTo('.cc-panel article, .cc-panel [role=article]')")
    row.click()
    took = panel.page.evaluate("probe.opened")
    expect(panel.answers.last).to_contain_text("Answer 999.")
    print(f"\nopening 2,000 messages: {took:.0f} ms (bar {OPEN_BAR})")
    assert took < OPEN_BAR * SLACK


def test_scrolling_through_2000_messages_keeps_its_frames(visitor: Visitor, lab: Lab) -> None:
    long_chat(lab, "Scrolled to the top", 2000)
    panel = measured(visitor, lab)
    panel.open_chat("Scrolled to the top")
    expect(panel.answers.last).to_contain_text("Answer 999.")
    panel.messages.hover()
    panel.page.evaluate("probe.count()")
    for _ in range(60):
        panel.page.mouse.wheel(0, -4000)
        panel.page.wait_for_timeout(16)
    figures = gaps(panel.page)
    top = re.search(r"(Question|Answer) \d+", panel.place.get_by_role("article").first.text_content() or "")
    print(f"\nframes while scrolling: {figures} (bar {FRAME_BAR}); reached {top and top[0]}")
    assert figures.worst < FRAME_BAR * SLACK
    assert figures.at(0.5) < 17 * SLACK


def test_an_answer_of_20000_chunks_drops_no_long_frame_and_moves_few_bytes(visitor: Visitor, lab: Lab) -> None:
    panel = measured(visitor, lab)
    panel.ask("[[mock:text,say=warm]]")
    panel.page.evaluate("probe.bytes = 0, probe.count()")
    panel.send("[[mock:text,chunks=20000,size=6]]")
    expect(panel.answers).to_have_count(2)
    panel.wait_idle(60_000)
    figures = gaps(panel.page)
    moved = panel.page.evaluate("probe.bytes")
    text = 20_000 * 6
    print(f"\nframes in a 20,000-chunk answer: {figures} (bar {FRAME_BAR}); {moved / text:.2f} x its bytes (bar 6)")
    assert figures.worst < FRAME_BAR * SLACK
    assert moved <= BYTES_BAR * text


def test_a_delta_is_on_the_screen_within_50_ms(visitor: Visitor, lab: Lab) -> None:
    panel = measured(visitor, lab)
    panel.ask("[[mock:text,say=warm]]")
    panel.messages.evaluate("node => { probe.frames = []; probe.follow(node); }")
    panel.ask("[[mock:text,chunks=60,delay_ms=60]]")
    figures = delays(panel.page)
    print(f"\ndelta to screen: {figures} (bar {DELAY_BAR})")
    assert len(figures.values) >= 40
    assert figures.at(0.95) < DELAY_BAR * SLACK
