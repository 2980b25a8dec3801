"""Messages with pictures: what the model gets, what stays on the disk, and what a person is told."""

from __future__ import annotations

import asyncio
import base64
import json
import signal
import sys
import time
from pathlib import Path

import pytest

from cashcode_jupyter.app import CashCode
from cashcode_jupyter.config import Settings
from cashcode_jupyter.protocol.pictures import MAX_PICTURE_BYTES
from cashcode_jupyter.testing.fixtures import CashcodeHome
from cashcode_jupyter.testing.model import ScriptedModel
from cashcode_jupyter.testing.pictures import pictures_of
from tests.agent.conftest import Door, names, text_of

SEE = "[[mock:text,see=1]] what is on it?"


@pytest.fixture
def scripted_model():
    with ScriptedModel(strict=True, vision=("seer",), models=("mock", "seer", "blind")) as model:
        yield model
    assert model.refused == []


def url(number: int = 0, size: int = 0) -> str:
    data = b"\x89PNG\r\n\x1a\n" + f"{number:08d}".encode()
    return "data:image/png;base64," + base64.b64encode(data.ljust(size, b"x")).decode()


def image(number: int = 0, size: int = 0) -> dict:
    return {"kind": "image", "label": f"plot {number}.png", "text": "", "data_url": url(number, size)}


def sent(model: ScriptedModel) -> list[str]:
    """The pictures of the last request."""
    return pictures_of(model.requests[-1].body)


def user_words(model: ScriptedModel) -> str:
    return str([message["content"] for message in model.requests[-1].body["messages"] if message["role"] == "user"])


def kept(home: CashcodeHome, chat_id: str = "chat") -> list[Path]:
    return sorted((home.data / "memory" / chat_id / "attachments").glob("*"))


def history(home: CashcodeHome, chat_id: str = "chat") -> str:
    return (home.data / "memory" / chat_id / "history.jsonl").read_text("utf-8")


async def test_the_model_sees_the_pictures_of_a_message(door: Door, scripted_model: ScriptedModel):
    jpeg = "data:image/jpeg;base64," + base64.b64encode(b"\xff\xd8\xff\xe0 abc").decode()
    events = await door.ask(SEE, context=[image(), {"kind": "image", "text": "", "data_url": jpeg}])
    assert text_of(events) == "I see 2 pictures: image/png, image/jpeg."
    assert sent(scripted_model) == [url(), jpeg]
    assert scripted_model.requests[-1].body["messages"][-1]["content"][0] == {"type": "text", "text": SEE}


async def test_a_picture_is_a_file_and_a_receipt_and_never_in_the_history(
    door: Door, core: CashCode, cashcode_home: CashcodeHome
):
    await door.ask(SEE, context=[image(size=50_000)])
    [file] = kept(cashcode_home)
    assert file.read_bytes() == base64.b64decode(url(size=50_000).partition(",")[2])
    assert len(history(cashcode_home)) < 2000
    [asked, _answer] = await core.sessions.messages("chat")
    assert asked["content"] == SEE
    assert asked["context"] == [
        {"kind": "image", "label": "plot 0.png", "file": file.name, "mime": "image/png", "bytes": 50_000}
    ]


async def test_pictures_are_seen_again_in_later_turns_and_after_a_restart(
    door: Door, core: CashCode, scripted_model: ScriptedModel
):
    await door.ask(SEE, context=[image()])
    await door.ask("and now?")
    assert sent(scripted_model) == [url()]
    first, second = (json.dumps(record.body["messages"])[:-1] for record in scripted_model.requests)
    assert second.startswith(first)
    await core.stop()
    again = CashCode(Settings.load(), console=False)
    await again.start()
    later = Door(again.connect())
    await later.ask("and then?")
    assert sent(scripted_model) == [url()]
    await later.client.aclose()
    await again.stop()


async def test_only_the_newest_eight_go_out_and_older_ones_are_named(door: Door, scripted_model: ScriptedModel):
    await door.ask(SEE, context=[image(0), image(1)])
    await door.ask(SEE, context=[image(number) for number in range(2, 9)])
    assert sent(scripted_model) == [url(number) for number in range(1, 9)]
    assert "[picture: plot 0.png]" in user_words(scripted_model)


async def test_other_context_stands_beside_a_picture(door: Door, scripted_model: ScriptedModel):
    await door.ask(SEE, context=[{"kind": "cell", "label": "3", "text": "1/0"}, image()])
    [words, picture] = scripted_model.requests[-1].body["messages"][-1]["content"]
    assert '<context kind="cell" label="3">\n1/0' in words["text"] and picture["image_url"]["url"] == url()


async def test_a_picture_that_is_none_is_refused_and_nothing_is_stored(door: Door, cashcode_home: CashcodeHome):
    bad = image() | {"data_url": "data:image/gif;base64," + url().partition(",")[2]}
    await door.send("message", chat_id="chat", content="hi", metadata={"context": [bad]})
    [error] = [event for event in await door.until("error") if event["event"] == "error"]
    assert error["code"] == "bad_metadata" and "image/gif" in error["detail"]
    assert not (cashcode_home.data / "memory" / "chat").exists()


async def test_a_picture_by_the_name_of_a_file_must_be_in_the_chat(door: Door, cashcode_home: CashcodeHome):
    await door.ask(SEE, context=[image()])
    there = {"kind": "image", "text": "", "file": kept(cashcode_home)[0].name}
    assert text_of(await door.ask(SEE, context=[there])).startswith("I see 2 pictures")
    events = await door.ask(SEE, context=[there | {"file": f"{'0' * 64}.png"}])
    assert events[-1]["code"] == "bad_metadata"


async def test_without_a_model_nothing_is_stored(door: Door, core: CashCode, cashcode_home: CashcodeHome):
    cashcode_home.llm_settings.unlink()
    events = await door.ask("hi", context=[image()])
    assert events[-1]["code"] == "llm_not_configured"
    assert not (cashcode_home.data / "memory" / "chat").exists()


@pytest.mark.parametrize("quirk", ["no_vision", "no_vision_llamacpp", "no_vision_serde", "bad_picture"])
async def test_a_server_that_refuses_pictures_is_asked_once_more_with_their_names(
    door: Door, core: CashCode, scripted_model: ScriptedModel, quirk: str
):
    events = await door.ask(f"[[mock:text,see=1,quirk={quirk}]]", context=[image()])
    assert text_of(events) == "I see 0 pictures."
    [told] = [event for event in events if event["event"] == "retrying"]
    assert "does not take pictures" in told["detail"] and told["delay_sec"] == 0
    assert "[picture: plot 0.png]" in user_words(scripted_model)
    assert [record.status for record in scripted_model.requests][1:] == [200]
    rows = (await core.models.discover())["models"]
    assert {row["id"]: row.get("vision") for row in rows} == {"mock": False, "seer": None, "blind": None}


async def test_what_was_learned_holds_and_is_told_with_each_new_picture(door: Door, scripted_model: ScriptedModel):
    await door.ask("[[mock:text,quirk=no_vision]]", context=[image()])
    assert "retrying" not in names(await door.ask("[[mock:text,quirk=no_vision]] more"))
    events = await door.ask("[[mock:text,quirk=no_vision]]", context=[image(1)])
    assert [event["detail"] for event in events if event["event"] == "retrying"]
    assert [record.status for record in scripted_model.requests] == [400, 200, 200, 200]


async def test_ollama_says_who_can_see(
    door: Door, core: CashCode, scripted_model: ScriptedModel, cashcode_home: CashcodeHome
):
    core.llm_store.update({"ollama": {"base_url": scripted_model.origin}})
    seen = await door.ask(SEE, context=[image()], llm={"provider": "ollama", "model": "seer"})
    assert text_of(seen) == "I see 1 pictures: image/png." and "retrying" not in names(seen)
    blind = await door.ask(SEE, "other", context=[image()], llm={"provider": "ollama", "model": "blind"})
    assert text_of(blind) == "I see 0 pictures." and names(blind).count("retrying") == 1
    rows = (await core.models.discover())["models"]
    told = {row["id"]: row["vision"] for row in rows if row["provider"] == "ollama"}
    assert told == {"mock:latest": False, "seer:latest": True, "blind:latest": False}


async def test_retry_takes_the_pictures_along(door: Door, core: CashCode, scripted_model: ScriptedModel):
    await door.ask(SEE, context=[image()])
    [asked, _answer] = await core.sessions.messages("chat")
    await door.send("retry", chat_id="chat", from_cursor=asked["cursor"], content="[[mock:text,see=1]] again")
    events = await door.until("done")
    assert text_of(events) == "I see 1 pictures: image/png."
    await core.delete_chat("chat")
    [again, _answer] = await core.sessions.messages(events[0]["chat_id"])
    assert again["context"] == asked["context"]
    await door.ask("and now?", events[0]["chat_id"])
    assert sent(scripted_model) == [url()]


async def test_a_message_that_waits_keeps_its_picture(
    door: Door, scripted_model: ScriptedModel, cashcode_home: CashcodeHome
):
    await door.send("message", chat_id="chat", content="[[mock:text,chunks=200,delay_ms=20]]")
    await door.until("delta")
    await door.send("message", chat_id="chat", content=SEE, metadata={"context": [image(size=50_000)]})
    await door.until("queued")
    waiting = cashcode_home.data / "memory" / "chat" / "pending.jsonl"
    assert len(kept(cashcode_home)) == 1 and waiting.stat().st_size < 1000
    await door.send("cancel", chat_id="chat")
    await door.until("done")
    assert text_of(await door.until("done")) == "I see 1 pictures: image/png."


async def test_a_deleted_chat_leaves_no_picture(door: Door, core: CashCode, cashcode_home: CashcodeHome):
    await door.ask(SEE, context=[image()])
    await core.delete_chat("chat")
    assert not list(cashcode_home.data.rglob("*.png"))


async def test_a_picture_that_is_gone_is_named(
    door: Door, scripted_model: ScriptedModel, cashcode_home: CashcodeHome
):
    await door.ask(SEE, context=[image()])
    kept(cashcode_home)[0].unlink()
    assert text_of(await door.ask(SEE)) == "I see 0 pictures."
    assert "[picture: plot 0.png]" in user_words(scripted_model)


async def test_tokens_are_estimated_by_the_picture_not_by_its_size(door: Door):
    events = await door.ask("[[mock:text,quirk=no_usage]]", context=[image(size=500_000)])
    [usage] = [event for event in events if event["event"] == "usage"]
    assert usage["estimated"] and 1600 < usage["prompt_tokens"] < 10_000


async def test_eight_large_pictures_do_not_hold_up_the_loop(door: Door, scripted_model: ScriptedModel):
    size = MAX_PICTURE_BYTES - 100
    message = {"type": "message", "chat_id": "chat", "content": SEE}
    frame = json.dumps(message | {"metadata": {"context": [image(n, size) for n in range(8)]}})
    longest, last, stop = 0.0, time.thread_time(), asyncio.Event()

    async def watch() -> None:
        nonlocal longest, last
        while not stop.is_set():
            await asyncio.sleep(0)
            now = time.thread_time()  # work of this loop only, however busy the machine is
            longest, last = max(longest, now - last), now

    watching = asyncio.create_task(watch())
    await door.client.send(frame)
    await door.until("done")
    stop.set()
    await watching
    assert len(sent(scripted_model)) == 8
    assert longest < 0.2, f"the loop stood still for {longest * 1000:.0f} ms"


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.0, 0.02, 0.1, 0.4])
async def test_whenever_it_is_killed_a_stored_message_has_its_pictures(cashcode_home: CashcodeHome, after: float):
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "cashcode_jupyter.cli", "run"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdin and process.stdout
    await process.stdout.readline()
    for number in range(3):
        metadata = {"context": [image(2 * number, 200_000), image(2 * number + 1, 200_000)]}
        action = {"type": "message", "chat_id": "chat", "content": SEE, "metadata": metadata}
        process.stdin.write(json.dumps(action).encode() + b"\n")
    await process.stdin.drain()
    await asyncio.sleep(after)
    process.send_signal(signal.SIGKILL)
    await process.wait()
    folder = cashcode_home.data / "memory" / "chat"
    named = {
        item["file"]
        for name in ("history.jsonl", "pending.jsonl")
        for line in ((folder / name).read_text().splitlines() if (folder / name).exists() else ())
        for item in [*json.loads(line).get("context", ()), *json.loads(line).get("metadata", {}).get("context", ())]
    }
    whole = {path.name for path in kept(cashcode_home) if path.stat().st_size == 200_000}
    assert named <= whole


async def test_a_stop_right_behind_a_message_with_pictures_ends_its_turn(door: Door, core: CashCode):
    await door.send("message", chat_id="chat", content="look", metadata={"context": [image(size=500_000)]})
    await door.send("cancel", chat_id="chat")
    assert (await door.until("done"))[-1]["stop_reason"] == "cancelled"
    assert [message["role"] for message in await core.sessions.messages("chat")] == ["user"]
    assert (await door.ask("[[mock:text,say=hello]]"))[-1]["stop_reason"] == "answered"


async def test_pictures_wait_in_the_order_of_their_messages(door: Door, core: CashCode):
    for number in range(4):
        context = [image(number, 200_000)] if number % 2 == 0 else []
        content = f"[[mock:text,see=1]] {number}"
        await door.send("message", chat_id="chat", content=content, metadata={"context": context})
    for _number in range(4):
        await door.until("done")
    asked = [
        message["content"][-1] for message in await core.sessions.messages("chat") if message["role"] == "user"
    ]
    assert asked == ["0", "1", "2", "3"]
