from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cashcode_jupyter.memory.recall import Recall
from cashcode_jupyter.memory.recall_text import RecallText, render
from cashcode_jupyter.memory.sessions import Sessions
from cashcode_jupyter.paths import Paths
from cashcode_jupyter.security.redact import Redactor
from cashcode_jupyter.tools.base import CallContext
from cashcode_jupyter.tools.builtin.recall import RecallTools

from .conftest import end, run_turn

SECRET = "sk-verysecret-0123456789abcdef"


@pytest.fixture
def make(paths: Paths) -> Callable[..., Recall]:
    return lambda **options: Recall(paths, Redactor([SECRET]), **options)


@pytest.fixture
async def recall(make: Callable[..., Recall]):
    made = make()
    yield made
    await made.aclose()


@pytest.fixture
def index_file(paths: Paths) -> Path:
    return paths.data / "cache" / "recall.index"


async def say(sessions: Sessions, chat_id: str, *turns: tuple[str, str]) -> None:
    chat = await sessions.open(chat_id)
    for question, answer in turns:
        number = chat.append_user(question, turn_id=f"t{chat.last_seq}", message_id=f"m{chat.last_seq}")
        chat.append_assistant(answer, turn_id=f"t{chat.last_seq}")
        end(chat, f"t{chat.last_seq}", last_seq=chat.last_seq + number)
    await sessions.release(chat)


async def cursors(recall: Recall, query: str, **options) -> list[tuple[str, int]]:
    return [(hit.chat_id, hit.turn_cursor) for hit in (await recall.search(query, **options)).hits]


async def test_without_any_chat_nothing_is_found(recall: Recall):
    found = await recall.search("anything")
    assert (found.hits, found.turns, found.complete) == ((), 0, True)


async def test_a_hit_has_its_turn_the_turns_around_it_and_the_cursor_of_the_words(
    recall: Recall, sessions: Sessions
):
    await say(sessions, "a", ("first", "one"), ("where is the Xylophone", "in the attic"), ("third", "three"))
    chat = await sessions.open("a")
    chat.set_title("Instruments")
    await sessions.release(chat)
    (hit,) = (await recall.search("attic")).hits
    assert (hit.chat_id, hit.title, hit.snippet) == ("a", "Instruments", "in the attic")
    assert (hit.turn_cursor, hit.cursor) == (4, 5)
    assert [(shown.cursor, shown.role, shown.content, shown.hit) for shown in hit.window] == [
        (1, "user", "first", False),
        (2, "assistant", "one", False),
        (4, "user", "where is the Xylophone", True),
        (5, "assistant", "in the attic", True),
        (7, "user", "third", False),
        (8, "assistant", "three", False),
    ]
    assert json.dumps(hit.as_dict())


async def test_the_cursor_leads_to_the_message_in_the_history(recall: Recall, sessions: Sessions):
    await say(sessions, "a", *((f"question {n}", f"answer {n}") for n in range(30)), ("the zebra", "stripes"))
    (hit,) = (await recall.search("zebra")).hits
    (bubble,) = await sessions.messages("a", before=hit.cursor + 1, limit=1)
    assert (bubble["cursor"], bubble["content"]) == (hit.cursor, "the zebra")


async def test_new_turns_are_found_at_once_without_reading_the_old_ones_again(recall: Recall, sessions: Sessions):
    await say(sessions, "a", ("apples", "yes"))
    assert (await recall.search("apples")).turns == 1
    await say(sessions, "a", ("bananas", "no"))
    assert await cursors(recall, "bananas") == [("a", 4)]
    assert (await recall.search("apples")).turns == 2


async def test_a_turn_that_is_not_over_is_found_and_counts_once_when_it_is(recall: Recall, sessions: Sessions):
    chat = await sessions.open("a")
    chat.append_user("the walrus", turn_id="t", message_id="m")
    assert await cursors(recall, "walrus") == [("a", 1)]
    chat.append_assistant("a walrus has tusks", turn_id="t")
    end(chat, "t")
    await sessions.release(chat)
    assert await cursors(recall, "walrus tusks") == [("a", 1)]
    assert (await recall.search("walrus")).turns == 1


async def test_a_deleted_chat_is_found_no_more(recall: Recall, sessions: Sessions):
    await say(sessions, "a", ("apples", "yes"))
    assert await cursors(recall, "apples")
    await sessions.delete("a")
    found = await recall.search("apples")
    assert (found.hits, found.turns) == ((), 0)


async def test_branches_do_not_double_a_hit(recall: Recall, sessions: Sessions):
    await say(sessions, "a", ("apples", "yes"), ("more", "no"))
    await sessions.branch("a", 4, "b")
    await say(sessions, "b", ("pears", "apples too"))
    hits = (await recall.search("apples")).hits
    assert sorted(hit.cursor for hit in hits) == [1, 5]


async def test_the_asking_chat_and_copies_of_its_turns_are_left_out(recall: Recall, sessions: Sessions):
    await say(sessions, "a", ("apples", "yes"), ("more", "apples"))
    await sessions.branch("a", 4, "b")
    await say(sessions, "b", ("pears", "no"))
    assert await cursors(recall, "apples", exclude="b") == [("a", 4)]


async def test_an_edited_history_is_read_anew(recall: Recall, write_history):
    write_history("a", {"cursor": 1, "role": "user", "content": "apples"})
    assert await cursors(recall, "apples")
    write_history("a", {"cursor": 1, "role": "user", "content": "oranges now"})
    assert await cursors(recall, "apples") == []
    assert await cursors(recall, "oranges") == [("a", 1)]


async def test_a_seeds_history_with_broken_lines_is_searched(recall: Recall, write_history, paths: Paths):
    folder = write_history(
        "a",
        {"cursor": 1, "role": "user", "content": "apples"},
        "\0\0\0 not json",
        {"cursor": 2, "role": "assistant", "content": "你好世界"},
        {"cursor": 3, "role": "user", "content": "getUserByID"},
    )
    with (folder / "history.jsonl").open("ab") as file:
        file.write('{"cursor": 4, "role": "assistant", "content": "torn'.encode("gbk"))
    assert await cursors(recall, "世界") == [("a", 1)]
    assert await cursors(recall, "user id") == [("a", 3)]


async def test_what_is_no_plain_history_in_a_chat_of_that_name_costs_only_itself(
    recall: Recall, sessions: Sessions, paths: Paths
):
    await say(sessions, "a", ("apples", "yes"))
    for name in ("pipe", "link", "folder"):
        paths.chat(name).mkdir()
    os.mkfifo(paths.chat("pipe") / "history.jsonl")
    (paths.chat("link") / "history.jsonl").symlink_to(paths.chat("a") / "history.jsonl")
    (paths.chat("folder") / "history.jsonl").mkdir()
    (paths.memory / "linked").symlink_to(paths.chat("a"))
    assert await cursors(recall, "apples") == [("a", 1)]


async def test_tool_results_are_found_by_their_ends_and_shown_with_the_tools_name(
    recall: Recall, sessions: Sessions
):
    chat = await sessions.open("a")
    run_turn(chat, 1, tools=1)
    chat.append_user("again", turn_id="t", message_id="m")
    chat.append_result("c", "grep", f"needle {'hay ' * 50_000} thread", turn_id="t", ok=True, duration_sec=0.1)
    end(chat, "t")
    await sessions.release(chat)
    (hit,) = (await recall.search("needle thread")).hits
    (shown,) = [shown for shown in hit.window if shown.role == "tool"]
    assert (shown.tool_name, shown.cursor) == ("grep", hit.cursor)
    assert len(shown.content) <= 600


async def test_secrets_are_in_no_snippet_window_or_title_wherever_they_are_cut(recall: Recall, sessions: Sessions):
    filler = "word " * 100
    turns = [(f"needle {filler[: 5 * n]}{SECRET} {filler}", f"{filler[n:]}{SECRET}") for n in range(0, 100, 9)]
    await say(sessions, "a", *turns)
    chat = await sessions.open("a")
    chat.set_title(f"about {SECRET}")
    await sessions.release(chat)
    found = await recall.search("needle", limit=20)
    text = json.dumps(found.as_dict())
    assert len(found.hits) == 12
    assert "0123456789" not in text
    assert "verysecret" not in text


async def test_a_hit_is_small_whatever_was_said(recall: Recall, sessions: Sessions):
    await say(sessions, "a", *(("elephant " * 10_000, "grey " * 10_000) for _number in range(3)))
    (hit, *_others) = (await recall.search("elephant")).hits
    assert len(json.dumps(hit.as_dict())) < 6_000


async def test_the_index_is_kept_for_the_next_start_and_may_be_deleted(
    make: Callable[..., Recall], sessions: Sessions, index_file: Path
):
    await say(sessions, "a", *((f"apple number {n}", "yes") for n in range(40)))
    first = make()
    wanted = await cursors(first, "apple 7")
    await first.aclose()
    assert index_file.exists()
    for spoil in (lambda: None, index_file.unlink, lambda: index_file.write_bytes(b"CashCode recall\nnonsense")):
        spoil()
        again = make()
        assert await cursors(again, "apple 7") == wanted
        await again.aclose()


async def test_a_kept_index_takes_in_what_another_process_wrote_meanwhile(
    make: Callable[..., Recall], sessions: Sessions, paths: Paths
):
    await say(sessions, "a", *((f"apple {n}", "yes") for n in range(40)))
    await say(sessions, "gone", ("apple of the gone", "yes"))
    first = make()
    await first.search("apple")
    await first.aclose()
    await sessions.delete("gone")
    code = (
        "import sys, asyncio; from pathlib import Path\n"
        "from cashcode_jupyter.memory.sessions import Sessions; from cashcode_jupyter.paths import Paths\n"
        "async def main():\n"
        "    s = Sessions(Paths(Path(sys.argv[1]), Path(sys.argv[1])))\n"
        "    for name in ('a', 'new'):\n"
        "        c = await s.open(name)\n"
        "        c.append_user('a pineapple', turn_id='t', message_id='m')\n"
        "        await s.release(c)\n"
        "    await s.aclose()\n"
        "asyncio.run(main())\n"
    )
    await sessions.aclose()
    subprocess.run([sys.executable, "-c", code, str(paths.data)], check=True)
    second = make()
    assert sorted(await cursors(second, "pineapple")) == [("a", 121), ("new", 1)]
    assert await cursors(second, "gone") == []
    await second.aclose()


async def test_two_objects_on_one_folder_both_find_everything(make: Callable[..., Recall], sessions: Sessions):
    one, two = make(), make()
    await say(sessions, "a", *((f"apple {n}", "yes") for n in range(300)))
    first, second = await asyncio.gather(cursors(one, "apple 250"), cursors(two, "apple 250"))
    assert first[0] == second[0] == ("a", 751)
    await asyncio.gather(one.aclose(), two.aclose())


KILLED = """
import sys
from pathlib import Path
from cashcode_jupyter.memory.recall_sources import Sources
data = Path(sys.argv[1])
sources = Sources(data / "memory", data / "cache" / "recall.index")
sources.catch_up(lambda: False)
print("ready", flush=True)
while True:
    sources.save()
"""


async def test_kill_9_while_the_index_is_written_leaves_an_index_that_can_be_read(
    make: Callable[..., Recall], sessions: Sessions, paths: Paths
):
    await say(sessions, "a", *((f"apple {n}", "yes") for n in range(60)))
    for _round in range(5):
        child = subprocess.Popen([sys.executable, "-c", KILLED, str(paths.data)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.03)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        recall = make()
        assert (await cursors(recall, "apple 42"))[0] == ("a", 127)
        await recall.aclose()


async def test_a_long_first_build_does_not_hold_a_query_up_and_goes_on(
    make: Callable[..., Recall], sessions: Sessions
):
    await say(sessions, "a", *((f"apple {n}", "yes") for n in range(300)))
    recall = make(wait=0.0)
    assert not (await recall.search("apple")).complete
    for _attempt in range(100_000):
        if (found := await recall.search("apple", limit=1)).hits:
            break
    else:
        raise AssertionError("the build never got anywhere")
    assert found.turns <= 300
    await recall.aclose()


async def test_a_full_index_gives_up_the_oldest_turns_and_says_so(make: Callable[..., Recall], sessions: Sessions):
    await say(sessions, "a", *((f"apple number{n} color{n} size{n}", f"yes{n}") for n in range(100)))
    recall = make(max_entries=300)
    await recall.search("apple")
    found = await recall.search("number99")
    assert found.dropped > 0
    assert found.turns + found.dropped == 100
    assert found.hits[0].turn_cursor == 298
    assert "no longer searched" in render(found)
    await recall.aclose()


async def test_a_building_index_leaves_the_event_loop_free(make: Callable[..., Recall], sessions: Sessions):
    await say(sessions, "a", *((f"apple {n} " * 50, "yes " * 50) for n in range(300)))
    recall = make()
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    await recall.search("apple")
    ticking.cancel()
    assert ticks > 20
    await recall.aclose()


async def test_the_tool_quotes_other_chats_only_and_stays_short(recall: Recall, sessions: Sessions, tmp_path: Path):
    for chat_id in ("a", "b"):
        await say(sessions, chat_id, *((f"apples {chat_id} {n} " * 200, "yes " * 400) for n in range(12)))
    tools = RecallTools(RecallText(recall))
    (spec,) = tools.specs()
    assert (spec.name, spec.risk, spec.parameters["additionalProperties"]) == ("recall", "read", False)
    outcome = await tools.call(
        "recall", {"query": "apples", "limit": 20}, CallContext("a", "t", "c", tmp_path, tmp_path)
    )
    assert outcome.ok
    assert "chat b" in outcome.text
    assert "chat a," not in outcome.text
    assert len(outcome.text) < 8_000


async def test_the_tool_says_in_words_that_nothing_was_found(recall: Recall):
    assert "Nothing matches in 0 turns" in await RecallText(recall)("unicorns", 5, "a")
