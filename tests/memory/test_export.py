from __future__ import annotations

import json
import uuid
from pathlib import Path

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cashcode_jupyter.memory.attachments import Attachments
from cashcode_jupyter.memory.export import FORMATS, export_chat
from cashcode_jupyter.memory.export_claude_code import session
from cashcode_jupyter.memory.export_markdown import fenced, split_code
from cashcode_jupyter.memory.export_notebook import notebook
from cashcode_jupyter.memory.export_steps import Call, Message
from cashcode_jupyter.memory.sessions import CallRecord, Sessions
from cashcode_jupyter.paths import Paths
from cashcode_jupyter.protocol.errors import BadSetting, InvalidChatId, NotFound
from cashcode_jupyter.protocol.events import ModelChoice
from cashcode_jupyter.security.redact import Redactor

from .conftest import end

SECRET = "sk-verysecret-0123456789abcdef"
ANSWER = "Like this:\n\n```python\nx = 1\n\nprint(x)\n```\n\nand\n```bash\nls\n```\n"


@pytest.fixture
async def chat_id(sessions: Sessions) -> str:
    """A chat with text, code, two calls in one record, a failed one, and a secret everywhere."""
    chat = await sessions.open("a:1")
    chat.append_user("how do I print?", turn_id="t", message_id="m", model_content="with context", extra={})
    calls = [
        CallRecord("c1", "read_file", json.dumps({"path": "a.py", "key": SECRET})),
        CallRecord("c2", "exec", '{"command": "ls"}'),
    ]
    chat.append_calls("I look.", calls, turn_id="t", reasoning="secret thoughts")
    chat.append_result(
        "c1", "read_file", f"a = '{SECRET}'\n```\n</details>", turn_id="t", ok=True, duration_sec=0.1
    )
    chat.append_result("c2", "exec", "no such command", turn_id="t", ok=False, duration_sec=0.1, risk="execute")
    chat.append_assistant(ANSWER, turn_id="t", reasoning="more thoughts")
    end(chat, "t")
    chat.append_user(f"my key is {SECRET}", turn_id="u", message_id="n")
    chat.append_assistant("Noted.", turn_id="u")
    end(chat, "u", last_seq=20)
    chat.set_title("Printing <in> Python")
    chat.set_llm(ModelChoice(provider="ollama", model="llama3"))
    await sessions.release(chat)
    return "a:1"


async def exported(paths: Paths, chat_id: str, format: str) -> str:
    return (await export_chat(paths, chat_id, format, Redactor([SECRET])).read()).decode()


@pytest.mark.parametrize("format", FORMATS)
async def test_no_export_has_a_secret_and_each_is_the_same_every_time(paths: Paths, chat_id: str, format: str):
    text = await exported(paths, chat_id, format)
    assert "verysecret" not in text
    assert text == await exported(paths, chat_id, format)


async def test_the_notebook_is_valid_and_has_words_code_and_folded_calls(paths: Paths, chat_id: str):
    made = nbformat.reads(await exported(paths, chat_id, "ipynb"), as_version=4)
    nbformat.validate(made)
    assert (made.nbformat, made.nbformat_minor) == (4, 5)
    assert [cell.cell_type for cell in made.cells] == ["markdown"] * 6 + ["code"] + ["markdown"] * 3
    assert [cell.source for cell in made.cells if cell.cell_type == "code"] == ["x = 1\n\nprint(x)"]
    assert made.cells[1].source.endswith("how do I print?")
    folded = [cell.source for cell in made.cells if cell.source.startswith("<details>")]
    assert [source.splitlines()[1] for source in folded] == [
        "<summary>Tool call: read_file (done)</summary>",
        "<summary>Tool call: exec (failed)</summary>",
    ]
    assert "```bash\nls\n```" in made.cells[7].source
    assert made.metadata.cashcode.llm == {"provider": "ollama", "model": "llama3"}


async def test_markdown_tells_the_chat_in_order_without_thoughts_and_context(paths: Paths, chat_id: str):
    text = await exported(paths, chat_id, "md")
    assert text.startswith("# Printing \\<in\\> Python\n")
    order = ["how do I print?", "I look.", "read_file", "exec", "Like this:", "Noted."]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert "thoughts" not in text
    assert "with context" not in text


async def test_the_records_are_whole_and_their_arguments_still_json(paths: Paths, chat_id: str):
    head, *records = map(json.loads, (await exported(paths, chat_id, "jsonl")).splitlines())
    assert (head["format"], head["version"], head["chat_id"]) == ("cashcode-chat", 1, "a:1")
    assert [record["cursor"] for record in records] == list(range(1, 10))
    arguments = json.loads(records[1]["tool_calls"][0]["function"]["arguments"])
    assert arguments["path"] == "a.py"
    assert arguments["key"] != SECRET


async def test_a_claude_code_session_is_one_chain_with_a_result_after_each_call(paths: Paths, chat_id: str):
    export = export_chat(paths, chat_id, "claude-code", Redactor([SECRET]), cwd="/home/me")
    lines = [json.loads(line) for line in (await export.read()).decode().splitlines()]
    check_session(lines)
    assert export.file_name == f"{lines[0]['sessionId']}.jsonl"
    assert lines[-1] == {
        "type": "custom-title",
        "customTitle": "Printing <in> Python",
        "sessionId": lines[0]["sessionId"],
    }
    kinds = [block["type"] for line in lines[:-1] for block in blocks(line)]
    assert kinds == ["text", "text", "tool_use", "tool_use", "tool_result", "tool_result", "text", "text", "text"]
    assert [b["is_error"] for line in lines for b in blocks(line) if b["type"] == "tool_result"] == [False, True]


@pytest.mark.parametrize(
    ("chat", "format", "error"),
    [
        ("nobody", "md", NotFound),
        ("../a", "md", InvalidChatId),
        ("a:1", "docx", BadSetting),
        ("a:1", "", BadSetting),
    ],
)
async def test_what_cannot_be_exported_is_refused_in_words(
    paths: Paths, chat_id: str, chat: str, format: str, error
):
    with pytest.raises(error):
        export_chat(paths, chat, format, Redactor())


async def test_a_hand_broken_history_is_exported_as_far_as_it_can_be_read(paths: Paths, write_history):
    write_history(
        "b",
        {"role": "user", "content": ["odd", {"text": "parts"}]},
        "broken",
        {"role": "tool_calls", "tool_calls": [{"function": {"name": "f", "arguments": "{oops"}}, 7]},
        {"role": "tool", "tool_call_id": "nobody", "content": None},
        {"role": 5, "content": "what"},
        {"role": "assistant", "content": "fine \ud800", "timestamp": "when"},
    )
    for format in FORMATS:
        text = await exported(paths, "b", format)
        assert "fine ?" in text or "fine \\ud800" in text
    nbformat.validate(nbformat.reads(await exported(paths, "b", "ipynb"), as_version=4))


def test_a_picture_is_in_the_notebook(tmp_path: Path):
    from cashcode_jupyter.protocol.pictures import Picture

    data = b"\x89PNG\r\n\x1a\n" + b"0" * 20
    file = Attachments(tmp_path).put(Picture("png", data))
    pictures = ({"file": file, "label": "plot"}, {"file": "0" * 64 + ".png", "label": "gone"})
    chat = [Message(1, "user", "look", "", pictures)]
    made = nbformat.reads("".join(notebook("a", "T", None, chat, Attachments(tmp_path))), as_version=4)
    nbformat.validate(made)
    cell = made.cells[1]
    assert list(cell.attachments) == [file]
    assert f"![plot](attachment:{file})" in cell.source
    assert "picture: gone" in cell.source


@given(st.text(alphabet="ab`~ \n", max_size=60))
def test_nothing_inside_a_fence_closes_it(text: str):
    made = fenced(text, "text")
    assert [piece.code for piece in split_code(made.replace("text", "python", 1))] == [True]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("```python\nx\n```", [(True, "x")]),
        ("a\n```py\nx\n```\nb", [(False, "a"), (True, "x"), (False, "b")]),
        ("  ~~~Python3 title=1\n  x\n    y\n  ~~~~", [(True, "x\n  y")]),
        ("```python\nnever closed", [(True, "never closed")]),
        ("````markdown\n```python\nx\n```\n````", [(False, "````markdown\n```python\nx\n```\n````")]),
        ("```\nx\n```", [(False, "```\nx\n```")]),
        ("inline ```python x```", [(False, "inline ```python x```")]),
    ],
)
def test_python_fences_are_cut_out_by_the_rules_of_markdown(text: str, pieces: list):
    assert [tuple(piece) for piece in split_code(text)] == pieces


TEXT = st.text(max_size=40)
STEPS = st.lists(
    st.one_of(
        st.builds(Message, st.integers(0, 5), st.sampled_from(["user", "assistant"]), TEXT, TEXT),
        st.builds(
            Call,
            cursor=st.integers(0, 5),
            id=TEXT,
            name=TEXT,
            arguments=st.dictionaries(TEXT, TEXT, max_size=2),
            result=st.none() | TEXT,
            ok=st.booleans(),
            timestamp=st.sampled_from(["", "2026-07-01 10:00", "2025-01-01 00:00", "9999-99-99"]),
        ),
    ),
    max_size=8,
)


@given(TEXT, STEPS)
@settings(deadline=None)
def test_every_chat_gives_a_valid_notebook(tmp_path_factory, title: str, chat: list):
    folder = tmp_path_factory.getbasetemp()
    nbformat.validate(nbformat.reads("".join(notebook("a", title, None, chat, Attachments(folder))), as_version=4))


@given(TEXT, STEPS)
@settings(deadline=None)
def test_every_chat_gives_a_session_that_loads(title: str, chat: list):
    check_session([json.loads(line) for line in session("a", title, "", "/", chat)])


def blocks(line: dict) -> list[dict]:
    content = line.get("message", {}).get("content", [])
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def check_session(lines: list[dict]) -> None:
    """What the real client was seen to need: chain, ids, rising times, text that is not empty, paired calls."""
    parent, before, waiting, ids = None, "", [], set()
    for line in lines:
        if line["type"] == "custom-title":
            continue
        assert line["parentUuid"] == parent
        parent = line["uuid"]
        assert str(uuid.UUID(parent, version=4)) == parent
        assert line["timestamp"] > before
        before = line["timestamp"]
        assert {"isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch"} <= line.keys()
        if line["type"] == "assistant":
            assert line["message"]["id"]
            assert line["message"]["model"]
        for block in blocks(line):
            if block["type"] == "tool_use":
                assert block["id"] not in ids
                ids.add(block["id"])
                waiting.append(block["id"])
                assert block["name"].isascii()
            elif block["type"] == "tool_result":
                assert block["tool_use_id"] == waiting.pop(0)
                assert block["content"]
            else:
                assert block["text"].strip()
                assert not waiting
    assert not waiting
